/* SPDX-License-Identifier: MIT */
/* What leaves the page: the address of what is shown, and tables as CSV. */
async function copyLink(e) {
	const button = e.target,
		words = button.textContent;
	history.replaceState(history.state, "", address());
	try {
		await navigator.clipboard.writeText(location.href);
		button.textContent = "Copied";
	} catch {
		button.textContent = "It is in the address bar";
	}
	setTimeout(() => {
		button.textContent = words;
	}, 2000);
}

function csvCell(v) {
	if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
	const text = v === undefined || v === null ? "" : String(v);
	/* A spreadsheet would take such words for a formula. */
	const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
	return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function csvOf(rows) {
	return rows.map((row) => row.map(csvCell).join(",") + "\r\n").join("");
}

/* A button that saves what `rows()` returns: the head, then the table as it is shown. */
function csvButton(name, rows) {
	return el(
		"button",
		{
			type: "button",
			"data-place": `csv-${name}`,
			title: "the table as it is shown; times in ns",
			onclick: () => {
				const url = URL.createObjectURL(
					new Blob([csvOf(rows())], { type: "text/csv" }),
				);
				const link = el("a", { href: url, download: `${name}.csv` });
				link.click();
				setTimeout(() => URL.revokeObjectURL(url), 1000);
			},
		},
		"Save as CSV",
	);
}
