/* SPDX-License-Identifier: MIT */
/* The distribution of a value. */
/* Bars of equal width between the 0.5 % ends; what lies beyond is counted in the last ones. */
function histogram(sets, unit) {
	const all = Float64Array.from(sets.flatMap((s) => Array.from(s.values))).sort();
	if (!all.length) return el("p", { class: "dim" }, "No values.");
	const low = all[Math.floor(0.005 * (all.length - 1))],
		high = all[Math.ceil(0.995 * (all.length - 1))];
	const whole = all.every(Number.isInteger) && high - low < 48;
	const n = high === low ? 1 : whole ? high - low + 1 : 48,
		step = high === low ? 1 : whole ? 1 : (high - low) / n;
	const W = 560,
		H = 190,
		left = 8,
		bottom = 22;
	const counts = sets.map((s) => {
		const bins = new Array(n).fill(0);
		for (const v of s.values)
			bins[Math.max(0, Math.min(n - 1, Math.floor((v - low) / step)))]++;
		return bins.map((c) => c / (s.values.length || 1));
	});
	const most = Math.max(...counts.flat()),
		width = (W - 2 * left) / n;
	const at = (v) =>
		left + Math.min(n, Math.max(0, (v - low + (whole ? 0.5 : 0)) / step)) * width;
	const out = svg("svg", {
		viewBox: `0 0 ${W} ${H}`,
		width: "100%",
		role: "img",
		"aria-label": sets.map((s) => spreadWords(s, unit)).join("; "),
	});
	counts.forEach((bins, k) =>
		bins.forEach((share, i) => {
			const h = ((H - bottom - 14) * share) / most;
			const from = low + i * step;
			out.append(
				svg(
					"rect",
					{
						class: "ab"[k],
						fill: sets[k].color,
						x: left + i * width,
						y: H - bottom - h,
						width: Math.max(width - 0.6, 0.6),
						height: h,
					},
					svg(
						"title",
						{},
						`${sets[k].name}: ${(100 * share).toFixed(1)} % at ${withUnit(from, unit)}` +
							(whole || n === 1
								? ""
								: ` to ${withUnit(from + step, unit)}`),
					),
				),
			);
		}),
	);
	out.append(
		svg("line", {
			x1: left,
			x2: W - left,
			y1: H - bottom,
			y2: H - bottom,
			stroke: theme("line"),
		}),
	);
	axisLabels({
		low,
		high,
		n,
		unit,
		less: all[0] < low,
		more: all[all.length - 1] > high,
	}).forEach(([share, words, anchor]) =>
		out.append(
			svg(
				"text",
				{
					x: left + share * (W - 2 * left),
					y: H - 7,
					"text-anchor": anchor,
				},
				words,
			),
		),
	);
	out.append(...quantileMarks(sets, at, H - bottom, W));
	out.append(
		svg(
			"text",
			{ x: left, y: 11 },
			`tallest bar: ${(100 * most).toFixed(1)} % of frames`,
		),
	);
	return out;
}

/* Nearest rank, as everywhere. */
function quantile(values, q) {
	const ordered = Float64Array.from(values).sort();
	return ordered[Math.max(0, Math.ceil(q * ordered.length) - 1)];
}

function spreadWords(set, unit) {
	const of = (q) => withUnit(quantile(set.values, q), unit);
	return `distribution of ${set.name}: p50 ${of(0.5)}, p99 ${of(0.99)}`;
}

/* [share of the width, words, where the words are anchored] each. */
function axisLabels({ low, high, n, unit, less, more }) {
	if (n === 1) return [[0, withUnit(low, unit), "start"]];
	const between = [0.25, 0.5, 0.75].map((share) => [
		share,
		brief(low + share * (high - low), unit),
		"middle",
	]);
	return [
		[0, (less ? "≤ " : "") + brief(low, unit), "start"],
		...between,
		[1, (more ? "≥ " : "") + brief(high, unit), "end"],
	];
}

/* Upright lines at p50 and p99 of each set. */
function quantileMarks(sets, at, bottom, W) {
	const out = [];
	sets.forEach((set, k) => {
		for (const [word, q] of [
			["p50", 0.5],
			["p99", 0.99],
		]) {
			const x = at(quantile(set.values, q)),
				name = sets.length > 1 ? `${word} ${set.name}` : word;
			const right = x > W - 60;
			out.push(
				svg("line", {
					class: "quantile",
					x1: x,
					x2: x,
					y1: 16 + 12 * k,
					y2: bottom,
				}),
				svg(
					"text",
					{
						x: right ? x - 3 : x + 3,
						y: 25 + 12 * k,
						"text-anchor": right ? "end" : "start",
					},
					name,
				),
			);
		}
	});
	return out;
}
