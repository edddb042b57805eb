/* SPDX-License-Identifier: MIT */
/* What `passtally compare --json` says of the two runs (meta.verdict), in the words and numbers of
 * its text (cli/compare/row_text.c, print.c). */

/* The value of a pass or (id "frame") the frame, or null. */
function verdictOf(device, id, key) {
	const v = meta.verdict;
	if (!v || !v.subjects) return null;
	if (!v.found) {
		v.found = new Map();
		for (const s of v.subjects)
			for (const value of s.values)
				v.found.set(`${s.device} ${s.id || s.what} ${value.key}`, value);
	}
	return v.found.get(`${device} ${id} ${key}`) || null;
}

/* Whether the difference may be chance, or there is none. */
function isNoise(v) {
	return Boolean(v) && !["more", "less"].includes(v.verdict);
}

/* The class of a difference: only what is judged a change has a color, and only of times it is
 * known which one is worse. */
function judged(v, unit) {
	return (v && unit === "ns" && { more: "bad", less: "good" }[v.verdict]) || null;
}

function verdictWords(v) {
	if (!v) return "";
	const isTime = v.key === "gpu_ns" || v.key === "cpu_ns",
		far = Math.max(Math.abs(v.low_pct), Math.abs(v.high_pct));
	const words = {
		more: isTime ? "slower" : "more",
		less: isTime ? "faster" : "less",
		same: `same within ${meta.verdict.same_pct} %`,
		equal: "equal",
		"too-few": "too few to judge",
		"one-side": v.base ? "only in A" : "only in B",
	};
	if (v.verdict in words) return words[v.verdict];
	return Number.isFinite(far)
		? `cannot tell (±${far.toFixed(far < 10 ? 1 : 0)} %)`
		: "cannot tell";
}

/* In percent of A; where that is 0, as a number. */
function changeWords(v, words) {
	return v.difference_pct === undefined
		? signed(v.difference, words)
		: signedPercent(v.difference_pct);
}

function intervalWords(v, words) {
	if (!v || v.low === undefined) return "-";
	const [low, high] =
		v.low_pct === undefined
			? [v.low, v.high].map((x) => signed(x, words))
			: [v.low_pct, v.high_pct].map(signedPercent);
	return `${low} to ${high}`;
}

/* Against the other passes it is around another change than that of the means. */
function intervalCell(v, words) {
	const interval = intervalWords(v, words);
	return v && v.against_others
		? `${signedPercent(v.against_others_pct)}* (${interval})`
		: interval;
}

/* "+1.2% (99 %: +0.9% to +1.5%): same within 3 %" */
function verdictText(v, words) {
	const interval = intervalWords(v, words),
		own = v.against_others
			? `, against the other passes ${signedPercent(v.against_others_pct)}`
			: "";
	const within = interval === "-" ? "" : ` (${100 * meta.verdict.confidence} %: ${interval})`;
	return `${changeWords(v, words)}${own}${within}: ${verdictWords(v)}`;
}

/* The verdict, and below it what is not the same in the two runs. */
function verdictSection() {
	const v = meta.verdict || { refused: "NOT COMPARED: these logs cannot be read twice" };
	const lines = v.lines || ["The differences below are as they are.", v.refused];
	const color = v.refused ? "bad" : { slower: "bad", mixed: "bad", faster: "good" }[v.conclusion];
	return el(
		"section",
		{ id: "verdict" },
		el("p", { class: color }, el("strong", {}, lines[lines.length - 1])),
		...lines
			.slice(0, -1)
			.filter((line) => v.refused || isUnlike(line))
			.map((line) => el("p", { class: "dim" }, line)),
	);
}

function isUnlike(line) {
	return line.startsWith("differs: ");
}

/* How it was judged, and what would make it surer: below the tables that it is about. */
function methodSection() {
	const lines = (meta.verdict && meta.verdict.lines) || [];
	return el(
		"section",
		{ id: "method" },
		...lines
			.slice(0, -1)
			.filter((line) => !isUnlike(line))
			.map((line) => el("p", { class: "dim" }, line)),
	);
}
