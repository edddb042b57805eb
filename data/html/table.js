/* SPDX-License-Identifier: MIT */
/* The table of passes. */
/* Which series a table shows: in use by some pass; few unless all are asked for. */
function usedSeries(log, d) {
	const used = new Set();
	for (const g of d.groups)
		for (const s of g.series)
			if (s[0] > 0 && (stat(g, s[0], "min") !== 0 || stat(g, s[0], "max") !== 0))
				used.add(s[0]);
	return [...used].sort((a, b) => a - b);
}

/* Those that are shown at first, and the rest. */
const STATS = ["p50", "p99"],
	MORE_STATS = ["mean", "sd", "min", "p90", "max"];

function largest(groups, of) {
	return Math.max(0, ...groups.map(of).filter(Number.isFinite));
}

function timeColumns(d) {
	const mean = unitFor(largest(d.groups, (g) => stat(g, 0, "mean")));
	const total = unitFor(largest(d.groups, (g) => stat(g, 0, "sum")));
	const column = (key, which, unit) => ({
		key,
		title: `GPU ${key}`,
		small: unit[0],
		series: 0,
		which,
		unit: "ns",
		of: (g) => stat(g, 0, which),
		show: (v) => inUnit(v, unit),
	});
	return {
		first: STATS.map((which) => column(which, which, mean)),
		more: [
			column("total", "sum", total),
			...MORE_STATS.map((which) => column(which, which, mean)),
		],
	};
}

function tableColumns(log, d) {
	const columns = [{ key: "name", title: "pass", of: (g) => g.name }];
	columns.push({ key: "share", title: "share", of: (g) => g.share });
	const times = timeColumns(d);
	columns.push(...times.first, {
		key: "n",
		title: "N",
		of: (g) => stat(g, 0, "n") || g.frames,
		hint: "frames in which its GPU time is known; of a pass without any, those that have it",
	});
	const series = usedSeries(log, d);
	if (state.all && new Set(d.groups.map((g) => g.queue)).size > 1)
		columns.push({ key: "queue", title: "queue", of: (g) => g.queue });
	if (state.all)
		columns.push(
			{ key: "kind", title: "kind", of: (g) => (g.outside ? "" : g.kind) },
			...times.more,
		);
	for (const s of state.all ? series : series.slice(0, 1)) {
		const info = log.series[s];
		columns.push({
			key: info.key,
			title: seriesTitle(info),
			series: s,
			which: "mean",
			unit: info.unit,
			of: (g) => stat(g, s, "mean"),
			hint: [
				"mean a frame",
				info.key,
				FIXED[info.key],
				info.name,
				info.unit,
				info.text,
			]
				.filter(Boolean)
				.join(" · "),
		});
	}
	if (state.all)
		columns.push({ key: "flags", title: "flags", of: (g) => g.flags.join(" ") });
	return { columns, more: times.more.length + 2 + Math.max(0, series.length - 1) };
}

function sorted(groups, column) {
	const known = (v) => (typeof v === "string" ? v !== "" : Number.isFinite(v));
	return groups.slice().sort((a, b) => {
		const x = column.of(a),
			y = column.of(b);
		if (known(x) !== known(y)) return known(x) ? -1 : 1;
		const order =
			typeof x === "string" ? String(x).localeCompare(String(y)) : x - y || 0;
		return state.down ? -order : order;
	});
}

function headRow(columns, redraw) {
	return el(
		"tr",
		{},
		...columns.map((c) =>
			el(
				"th",
				{
					title: c.hint,
					scope: "col",
					"aria-sort":
						state.sort === c.key
							? state.down
								? "descending"
								: "ascending"
							: null,
				},
				el(
					"button",
					{
						type: "button",
						"data-key": c.key,
						"data-place": `sort-${c.key}`,
						onclick: () => {
							state.down =
								state.sort === c.key
									? !state.down
									: ![
											"name",
											"kind",
											"queue",
											"flags",
										].includes(c.key);
							state.sort = c.key;
							redraw();
							const again = document.querySelector(
								`th button[data-key="${CSS.escape(c.key)}"]`,
							);
							if (again) again.focus();
						},
					},
					c.title,
					c.small ? el("small", {}, ` ${c.small}`) : null,
					state.sort === c.key ? (state.down ? " ▾" : " ▴") : null,
				),
			),
		),
	);
}

function cellOf(log, d, c, g, place) {
	if (c.key === "name")
		return el(
			"td",
			{ class: "name", title: g.outside ? g.name : `${g.name}\nid ${g.id}` },
			swatch(colour(place)),
			smallPicture(d, place),
			g.name,
		);
	if (c.series !== undefined) return valueCell(log, d, g, c.series, c.which, c.unit, c.show);
	if (c.key !== "share")
		return el("td", {}, typeof c.of(g) === "number" ? plain(c.of(g)) : c.of(g) || "");
	const bar = el("span", { class: "share" });
	bar.style.width = `${Math.round(60 * (g.share || 0))}px`;
	return el("td", { title: "of all measured GPU time" }, bar, percent(g.share));
}

/* The name is a button, for keys and screen readers; its click is one on the row, too. */
function openable(row, open) {
	const [cell] = row.cells;
	const button = el("button", { type: "button", class: "open" }, ...cell.childNodes);
	button.dataset.place = row.dataset.place;
	delete row.dataset.place;
	cell.replaceChildren(button);
	row.addEventListener("click", () => open());
	return row;
}

function filterBox(redraw) {
	const input = el("input", {
		id: "filter",
		type: "search",
		placeholder: "filter: part of a name, id, kind, flag",
		size: 34,
		"aria-label": "filter passes",
		value: state.filter,
		oninput: () => {
			state.filter = input.value;
			redraw();
		},
	});
	return input;
}

function matches(g) {
	const text = [g.name, g.id, g.kind, g.queue, ...g.flags].join(" ").toLowerCase();
	return state.filter
		.toLowerCase()
		.split(/\s+/)
		.every((word) => text.includes(word));
}

/* The name of a column for a program that reads it. */
function csvHead(c) {
	if (c.series === 0) return `gpu_ns_${c.which}`;
	return c.series === undefined ? c.key : `${c.key}_${c.which}`;
}

/* Shows only the passes of a label in the table below. */
function filterPasses(label) {
	const box = document.getElementById("filter");
	if (!box) return;
	box.value = label;
	box.dispatchEvent(new Event("input"));
	document.getElementById("all-passes")?.scrollIntoView();
	box.focus({ preventScroll: true });
}

function passTable(log, d) {
	const head = el("thead"),
		body = el("tbody"),
		count = el("span", { class: "dim", id: "count", role: "status" });
	const all = el("button", { type: "button", id: "all" });
	let shown = null;
	const csv = () => [
		["pass", "id", ...shown.columns.slice(1).map(csvHead)],
		...shown.rows.map((g) => [
			g.name,
			g.outside ? "" : g.id,
			...shown.columns.slice(1).map((c) => c.of(g)),
		]),
	];
	const draw = () => {
		const { columns, more } = tableColumns(log, d);
		const by = columns.find((c) => c.key === state.sort) || columns.find((c) => c.key === "share");
		const rows = sorted(d.groups.filter((g) => matches(g) && !g.nothing), by);
		head.replaceChildren(headRow(columns, draw));
		body.replaceChildren(
			...rows.map((g) =>
				openable(
					el(
						"tr",
						{
							"data-place": `pass-${g.outside ? "outside" : g.id}`,
						},
						...columns.map((c) =>
							cellOf(log, d, c, g, d.groups.indexOf(g)),
						),
					),
					() => openPass(d.groups.indexOf(g)),
				),
			),
		);
		const passes = (list) => list.filter((g) => !g.outside).length;
		count.textContent = `${passes(rows)} of ${countOfPasses(passes(d.groups))}`;
		all.hidden = more <= 0;
		all.textContent = state.all
			? "fewer columns"
			: `${more} more ${more === 1 ? "column" : "columns"}`;
		shown = { columns, rows };
	};
	all.addEventListener("click", () => {
		state.all = !state.all;
		draw();
	});
	const section = el(
		"section",
		{},
		el("h2", { id: "all-passes", tabindex: -1 }, "Passes"),
		el("div", { class: "row" }, filterBox(draw), count, all, csvButton("passes", csv)),
		el("div", { class: "wide" }, el("table", { id: "passes", "aria-label": "Passes" }, head, body)),
	);
	draw();
	return section;
}
