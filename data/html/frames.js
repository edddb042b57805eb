/* SPDX-License-Identifier: MIT */
/* Frames: their chart, the one that is picked, and its passes in time order. */
function markRows(log, d) {
	const out = [];
	for (const [level, source, message, time] of log.notes) {
		if (time === undefined) continue;
		out.push({
			x: placeOfTime(d, Number(BigInt(time) - BigInt(d.base_ns))),
			word: source === "mark" ? message : source || level,
		});
	}
	return out;
}

/* Where a time lies on the axis of frames: at its frame, or in a pause between two of them. */
function placeOfTime(d, at) {
	const { start, cpu, frame } = d.read;
	let row = 0;
	for (let hi = d.rows; row < hi;) {
		const mid = (row + hi) >> 1;
		if (start[mid] <= at) row = mid + 1;
		else hi = mid;
	}
	row = Math.max(0, row - 1);
	const end = start[row] + (cpu[row] || 0);
	if (at < end || row + 1 >= d.rows) return frame[row];
	const share = (at - end) / Math.max(1, start[row + 1] - end);
	return frame[row] + Math.min(1, share) * (frame[row + 1] - frame[row]);
}

/* Whether frames are missing after a row, as in a pause of the capture: more than are missing
 * everywhere. */
function pauses(d) {
	const { frame } = d.read;
	let least = d.step;
	if (d.step === 1) {
		least = Infinity;
		for (let i = 1; i < d.rows; i++)
			least = Math.min(least, frame[i] - frame[i - 1]);
	}
	return (row) => frame[row + 1] - frame[row] > 4 * least;
}

function milliseconds(v) {
	return `${v.toPrecision(4)} ms`;
}

/* Up to here nearly all frames lie. */
function nearlyAll(d) {
	return (1.15 * Math.max(d.cpu_ns.p99 ?? 0, d.gpu_ns.p99 ?? 0)) / 1e6;
}

function showCut(cut) {
	state.cut = cut;
	document.getElementById("cut").setAttribute("aria-pressed", String(cut));
}

/* Every chart of the view, each up to its own limit. */
function cutTops(cut) {
	if (!document.getElementById("cut")) return;
	showCut(cut);
	charts.forEach(
		(c) => c.limit && c.updateOptions({ valueRange: cut ? [0, c.limit] : null }),
	);
}

/* As double clicking does. */
function wholeRun() {
	charts.forEach((c) => c.resetZoom());
}

/* By this factor, around the frame that is picked, or the middle. */
function zoomRun(factor) {
	const chart = view.frames,
		[first, last] = chart.xAxisExtremes(),
		[from, to] = chart.xAxisRange();
	const picked = current().d.read.frame[state.row];
	const middle = picked >= from && picked <= to ? picked : (from + to) / 2;
	const half = Math.max(2, ((to - from) * factor) / 2);
	const low = Math.max(first, middle - half),
		high = Math.min(last, middle + half);
	chart.updateOptions({ dateWindow: low <= first && high >= last ? null : [low, high] });
}

function cutButton() {
	return el(
		"button",
		{
			type: "button",
			id: "cut",
			title: "p: leave the slowest 1 % out of the picture, so that the others can be seen",
			"aria-pressed": String(state.cut),
			onclick: () => cutTops(!state.cut),
		},
		"Up to p99",
	);
}

function frameTools(d) {
	const button = (id, words, label, act) =>
		el(
			"button",
			{ type: "button", id, title: label, "aria-label": label, onclick: act },
			words,
		);
	return el(
		"div",
		{ class: "row" },
		el("h2", {}, "Frames"),
		button("closer", "+", "zoom in (+)", () => zoomRun(0.5)),
		button("wider", "−", "zoom out (-)", () => zoomRun(2)),
		el(
			"button",
			{ type: "button", id: "whole", title: "z", onclick: wholeRun },
			"Whole run",
		),
		cutButton(),
		el(
			"span",
			{ class: "dim hint" },
			"drag: zoom · double click: all · click: that frame",
		),
		d.rows > MOST_POINTS
			? el(
					"span",
					{ class: "dim" },
					`line: median of up to ${d.step * Math.ceil(d.rows / MOST_POINTS)} frames, ` +
						"band: p1 to p99; zoom in for " +
						(d.step > 1 ? `one of each ${d.step}` : "each"),
				)
			: null,
	);
}

function drawUnder(d, marks) {
	const f = d.read;
	return (canvas, area, g) => {
		marks.slice(0, 200).forEach((m, i) =>
			upright(
				canvas,
				area,
				g,
				m.x,
				theme("mark"),
				marks.length < 30 ? m.word.slice(0, 40) : "",
				i % 4,
			),
		);
		if (state.row < d.rows)
			upright(canvas, area, g, f.frame[state.row], theme("pick"), "", 0);
	};
}

/* A chart of more rows than this draws blocks of them: the median and, as a band, p1 to p99. */
const MOST_POINTS = 1500;

/* [from, to) of the rows of each point: of the part that is looked at as fine as it can be. */
function chartBlocks(d, from, to) {
	const { frame } = d.read,
		blocks = [];
	const add = (first, end) => {
		const block = Math.max(1, Math.ceil((end - first) / MOST_POINTS));
		for (let i = first; i < end; i += block)
			blocks.push([i, Math.min(i + block, end)]);
	};
	if (d.rows <= MOST_POINTS || from === null) {
		add(0, d.rows);
		return blocks;
	}
	const after = (x) => {
		let low = 0;
		for (let high = d.rows; low < high;) {
			const mid = (low + high) >> 1;
			if (frame[mid] < x) low = mid + 1;
			else high = mid;
		}
		return low;
	};
	const first = Math.max(0, after(from) - 1),
		end = Math.min(d.rows, after(to) + 2);
	add(0, first);
	add(first, end);
	add(end, d.rows);
	return blocks;
}

/* p1, median and p99 in milliseconds, by nearest rank. */
function bandOf(values, from, to) {
	const known = values.slice(from, to).filter((v) => !Number.isNaN(v)).sort();
	const at = (q) => known[Math.max(0, Math.ceil(q * known.length) - 1)] / 1e6;
	return known.length ? [at(0.01), at(0.5), at(0.99)] : [null, null, null];
}

function chartData(d, hasGpu) {
	const f = d.read,
		isPause = pauses(d),
		none = [null, null, null],
		data = [];
	for (const [from, to] of chartBlocks(d, state.from, state.to)) {
		const row = [f.frame[from], bandOf(f.sample_cpu, from, to)];
		if (hasGpu) row.push(bandOf(f.sample_gpu, from, to));
		data.push(row);
		/* No line is drawn across a pause. */
		for (let i = from; i < to && i + 1 < d.rows; i++)
			if (isPause(i)) {
				data.push([f.frame[i] + 0.5, none, ...(hasGpu ? [none] : [])]);
				break;
			}
	}
	return data;
}

/* For the strip: the longest frame of each point. */
function peaks(d) {
	const f = d.read,
		at = new Map();
	for (const [from, to] of chartBlocks(d, state.from, state.to))
		at.set(f.frame[from], f.cpu.slice(from, to).reduce((a, b) => Math.max(a, b || 0), 0) / 1e6);
	return at;
}

/* The part of the run that is looked at, kept in the address. */
function noteZoom(chart, d, hasGpu) {
	const zoomed = chart.isZoomed("x"),
		[from, to] = chart.xAxisRange();
	if (state.from === (zoomed ? from : null) && state.to === (zoomed ? to : null)) return;
	state.from = zoomed ? from : null;
	state.to = zoomed ? to : null;
	noteAddress();
	if (view.stack) view.stack.updateOptions({ dateWindow: zoomed ? [from, to] : null });
	if (d.rows <= MOST_POINTS) return;
	clearTimeout(view.finer);
	view.finer = setTimeout(() => {
		if (chart === view.frames)
			chart.updateOptions({ file: withStrip(chartData(d, hasGpu), peaks(d)) });
	}, 200);
}

function frameChart(log, d) {
	const f = d.read;
	const hasGpu = f.gpu.some((v) => !Number.isNaN(v));
	const labels = ["frame", "frame time"].concat(hasGpu ? ["GPU time"] : []);
	const colors = [theme("cpu"), theme("gpu")];
	const holder = el("div", {
		class: "chart",
		id: "frames",
		role: "img",
		"aria-label": `Frame time of ${plain(d.rows)} frames: ${frameWords(d.cpu_ns)}`,
	});
	const marks = markRows(log, d);
	view.legend = el("span", { class: "legend" });
	view.makeFrames = () => {
		view.frames = lineChart(holder, view.legend, chartData(d, hasGpu), {
			labels,
			colors,
			peaks: peaks(d),
			limit: nearlyAll(d),
			window: state.from === null ? null : [state.from, state.to],
			rest: rests(labels, colors),
			format: milliseconds,
			axis: (v) => `${trim(v, 4)} ms`,
			under: drawUnder(d, marks),
			pick: (x) => pickFrame(rowNear(d, Math.floor(x))),
			drawn: (g) => noteZoom(g, d, hasGpu),
		});
	};
	return el("section", {}, frameTools(d), view.legend, holder);
}
