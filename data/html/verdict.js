/* SPDX-License-Identifier: MIT */
/* What `passtally compare` says of the two runs (cli/report/html_verdict.c), in its words. */
const CONCLUSIONS = {
	same: "Same",
	faster: "Faster",
	slower: "Slower",
	mixed: "Mixed: some passes are slower, others faster",
	inconclusive: "Inconclusive: more frames or more runs would tell",
};

/* The row of a pass's or (id "frame") the frame's value, or null. */
function verdictOf(device, id, key) {
	const all = meta.verdict && meta.verdict.rows;
	if (!all) return null;
	if (!meta.verdict.found) {
		meta.verdict.found = new Map();
		for (const [number, what, name, word, change, low, high] of all)
			meta.verdict.found.set(`${number} ${what} ${name}`, {
				word,
				change,
				low,
				high,
			});
	}
	return meta.verdict.found.get(`${device} ${id} ${key}`) || null;
}

/* Whether the difference may be chance, or there is none. */
function isNoise(v) {
	return Boolean(v) && !["more", "less"].includes(v.word);
}

/* The class of a difference: only what is judged a change has a color. */
function judged(v, change, unit) {
	return v && !isNoise(v) ? worse(change, unit) : null;
}

function verdictWords(v, isTime) {
	if (!v) return "";
	const far = Math.max(Math.abs(v.low), Math.abs(v.high));
	const words = {
		more: isTime ? "slower" : "more",
		less: isTime ? "faster" : "less",
		same: `same within ${meta.verdict.same_pct} %`,
		equal: "the same",
		"too-few": "too few frames",
		"one-side": "",
	};
	if (v.word in words) return words[v.word];
	return v.low === null ? "cannot tell" : `cannot tell (±${far.toFixed(far < 10 ? 1 : 0)} %)`;
}

function intervalWords(v) {
	return v && v.low !== null && v.low !== undefined
		? `interval ${signed(v.low, oneDigit)} to ${signed(v.high, oneDigit)}`
		: null;
}

function oneDigit(v) {
	return `${v.toFixed(1)} %`;
}

/* The passes that changed, the largest part of the frame first. */
function changedPasses(a, rows) {
	return rows
		.map((p) => ({ ...p, v: verdictOf(a.device, passKey(p.a || p.b), "gpu_ns") }))
		.filter((p) => p.v && !isNoise(p.v) && Number.isFinite(p.cost))
		.sort((x, y) => Math.abs(y.cost) - Math.abs(x.cost));
}

function verdictSection(la, a, lb, b) {
	const v = meta.verdict;
	if (!v)
		return el(
			"section",
			{ id: "verdict" },
			el(
				"p",
				{},
				"Differences as they are: these logs could not be read twice to judge them.",
			),
		);
	if (v.refused)
		return el(
			"section",
			{ id: "verdict" },
			el("p", { class: "bad" }, el("strong", {}, "Not compared. ")),
			el(
				"p",
				{},
				`Nothing follows from these runs (${v.refused}). ` +
					"Differences below are as they are.",
			),
		);
	const frame = verdictOf(a.device, "frame", "cpu_ns");
	const changed = changedPasses(a, joinPasses(la, a, lb, b, "gpu_ns"));
	const list = changed
		.slice(0, 6)
		.map((p) => `${p.name} ${signed(p.v.change, oneDigit)}`)
		.join(", ");
	const more = changed.length > 6 ? `, and ${changed.length - 6} more` : "";
	const bad = { slower: "bad", mixed: "bad", faster: "good" }[v.conclusion];
	return el(
		"section",
		{ id: "verdict" },
		el(
			"p",
			{ class: bad },
			el("strong", {}, `${CONCLUSIONS[v.conclusion] || v.conclusion}. `),
		),
		el(
			"p",
			{},
			frame
				? `Frame time ${signed(frame.change, oneDigit)}: ${verdictWords(frame, true)}` +
						(intervalWords(frame)
							? ` (${intervalWords(frame)}). `
							: ". ")
				: "",
			list
				? `Changed passes: ${list}${more}.`
				: "No pass is known to have changed.",
		),
	);
}
