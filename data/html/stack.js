/* SPDX-License-Identifier: MIT */
/* The GPU time of the passes over the run, one upon the other, and their sums over the part that is looked at. */
const STACKED = 8,
	READ = 60;

/* Passes by the first part of their labels, the most expensive first: { name, place, groups }. */
function stackParts(d) {
	const parts = new Map();
	const groups = d.groups
		.filter((g) => 2 * d.windows * g.frames >= d.frames && stat(g, 0, "sum") > 0)
		.sort((a, b) => stat(b, 0, "sum") - stat(a, 0, "sum"));
	for (const g of groups.slice(0, READ)) {
		const name = g.label ? g.label.split("/")[0] : g.name;
		if (!parts.has(name))
			parts.set(name, { name, place: placeOfLabel(d, name), groups: [], sum: 0 });
		const part = parts.get(name);
		part.groups.push(g);
		part.sum += stat(g, 0, "sum");
	}
	const all = [...parts.values()].sort((a, b) => b.sum - a.sum);
	const rest = all.splice(STACKED);
	if (rest.length)
		all.push({
			name: `${rest.length} more`,
			place: -1,
			groups: rest.flatMap((p) => p.groups),
		});
	return { parts: all, left: d.groups.filter((g) => !g.outside && !groups.slice(0, READ).includes(g)).length };
}

/* A row for each point: its first frame, then milliseconds of each part. */
async function stackData(d, parts) {
	const rows = Math.ceil(d.all_rows / d.block),
		block = Math.ceil(rows / MOST_POINTS);
	const { frame } = d.read;
	const number = (i) => frame[Math.min(Math.floor((i * d.block) / d.step), frame.length - 1)];
	const data = [];
	for (let i = 0; i < rows; i += block) data.push([number(i), ...parts.map(() => 0)]);
	for (const [k, part] of parts.entries())
		for (const g of part.groups) {
			const col = await series(statsOf(g, 0).column);
			for (let i = 0; col && i < Math.min(rows, col.rows.length); i++) {
				const span = Math.min(block, rows - Math.floor(i / block) * block);
				if (Number.isFinite(col.rows[i]))
					data[Math.floor(i / block)][k + 1] += col.rows[i] / span / 1e6;
			}
		}
	return withPauses(d, data);
}

/* Nothing is drawn across a pause. */
function withPauses(d, data) {
	const { frame } = d.read,
		isPause = pauses(d);
	for (let i = 0; i + 1 < frame.length; i++)
		if (isPause(i)) data.push([frame[i] + 0.5, ...data[0].slice(1).map(() => null)]);
	return data.sort((a, b) => a[0] - b[0]);
}

/* Up to here nearly all sums lie. */
function stackLimit(data) {
	const sums = data.map(([, ...parts]) => parts.reduce((a, b) => a + b, 0)).sort((a, b) => a - b);
	return 1.15 * sums[Math.floor(0.99 * (sums.length - 1))];
}

/* Means over the points between two frames. */
function stackMeans(data, from, to) {
	const rows = data.filter(([x, first]) => x >= from && x <= to && first !== null);
	return data[0].slice(1).map((unused, k) =>
		rows.reduce((sum, row) => sum + row[k + 1], 0) / Math.max(1, rows.length));
}

function stackWords(parts, colors, data, range) {
	const [first, last] = [data[0][0], data[data.length - 1][0]];
	const [from, to] = range.map((x) => Math.round(Math.min(last, Math.max(first, x))));
	const whole = from <= first && to >= last;
	const means = stackMeans(data, from, to),
		all = stackMeans(data, first, last);
	const sum = means.reduce((a, b) => a + b, 0);
	return [
		el("span", {}, `frames ${plain(from)} to ${plain(to)}: ${duration(1e6 * sum)} a frame`),
		...parts.map((p, k) =>
			el(
				"span",
				{},
				swatch(colors[k]),
				`${p.name} ${duration(1e6 * means[k])}` +
					(whole || !all[k] ? "" : ` (${signedPercent(100 * (means[k] / all[k] - 1))})`),
			),
		),
	];
}

/* Null: no pass has a time. */
async function stackSection(d) {
	const { parts, left } = stackParts(d);
	if (!parts.length || d.rows < 2) return null;
	const data = await stackData(d, parts);
	const colors = parts.map((p) => (p.place < 0 ? theme("dim") : colour(p.place)));
	const holder = el("div", { class: "chart small", id: "stack", role: "img" });
	const words = el("div", { class: "sums", id: "sums", role: "status" });
	const sums = (g) => words.replaceChildren(...stackWords(parts, colors, data, g.xAxisRange()));
	holder.setAttribute("aria-label", `GPU time of ${parts.map((p) => p.name).join(", ")} over the run`);
	view.makeStack = () => {
		/* The chart stacks from the last series up. */
		view.stack = lineChart(holder, el("span"), data, {
			labels: ["frame", ...parts.map((p) => p.name)],
			colors,
			stacked: true,
			limit: stackLimit(data),
			window: state.from === null ? null : [state.from, state.to],
			rest: () => {},
			format: milliseconds,
			axis: (v) => `${trim(v, 4)} ms`,
			pick: (x) => pickFrame(rowNear(d, Math.floor(x))),
			drawn: (g) => {
				sums(g);
				const window = g.isZoomed("x") ? g.xAxisRange() : null;
				const same = window ? state.from === window[0] && state.to === window[1] : state.from === null;
				if (view.frames && !same) view.frames.updateOptions({ dateWindow: window });
			},
		});
		sums(view.stack);
	};
	return el(
		"section",
		{},
		el(
			"div",
			{ class: "row" },
			el("h2", {}, "Passes over the run"),
			el("span", { class: "dim hint" }, "drag: the sums of that stretch"),
			left
				? el("span", { class: "dim" }, `${countOfPasses(left)} left out: small, seldom there, or without a time of their own`)
				: null,
		),
		holder,
		words,
	);
}
