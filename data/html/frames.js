/* Frames: their chart, the one that is picked, and its passes in time order. */
function markRows(log, d) {
	const out = [];
	for (const [level, source, message, time] of log.notes) {
		if (time === undefined) continue;
		const at = Number(BigInt(time) - BigInt(d.base_ns));
		let row = 0;
		for (let hi = d.rows; row < hi;) {
			const mid = (row + hi) >> 1;
			if (d.read.start[mid] <= at) row = mid + 1;
			else hi = mid;
		}
		out.push({
			row: Math.max(0, row - 1),
			word: source === "mark" ? message : source || level,
		});
	}
	return out;
}

function milliseconds(v) {
	return `${v.toPrecision(4)} ms`;
}

/* Up to here nearly all frames lie. */
function usual(d) {
	return (1.15 * Math.max(d.cpu[0] ? d.cpu[7] : 0, d.gpu[0] ? d.gpu[7] : 0)) / 1e6;
}

function showCut(cut) {
	state.cut = cut;
	document.getElementById("cut").setAttribute("aria-pressed", String(cut));
}

function cutTops(cut) {
	showCut(cut);
	view.frames.updateOptions({ valueRange: cut ? [0, usual(current().d)] : null });
}

/* As double clicking does. */
function wholeRun() {
	charts.forEach((c) => c.resetZoom());
}

function frameTools() {
	return el(
		"div",
		{ class: "row" },
		view.legend,
		el("span", { class: "dim" }, "drag: zoom · double click: all · click: that frame"),
		el(
			"button",
			{ type: "button", id: "whole", title: "z", onclick: wholeRun },
			"Whole run",
		),
		el(
			"button",
			{
				type: "button",
				id: "cut",
				title: "p: leave the slowest 1 % of frames out of the picture, for the others' sake",
				"aria-pressed": String(state.cut),
				onclick: () => cutTops(!state.cut),
			},
			"Up to p99",
		),
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
				f.frame[m.row],
				theme("mark"),
				marks.length < 30 ? m.word.slice(0, 40) : "",
				i % 4,
			),
		);
		if (state.row < d.rows)
			upright(canvas, area, g, f.frame[state.row], theme("pick"), "", 0);
	};
}

function frameChart(log, d) {
	const f = d.read,
		ms = (v) => (Number.isNaN(v) ? null : v / 1e6);
	const hasGpu = f.gpu.some((v) => !Number.isNaN(v));
	const labels = ["frame", "frame time"].concat(hasGpu ? ["GPU time"] : []);
	const colors = [theme("cpu"), theme("gpu")];
	const data = Array.from(f.frame, (x, i) =>
		hasGpu ? [x, ms(f.cpu[i]), ms(f.gpu[i])] : [x, ms(f.cpu[i])],
	);
	const holder = el("div", { class: "chart", id: "frames" });
	const marks = markRows(log, d);
	view.legend = el("span", { class: "legend" });
	view.makeFrames = () => {
		view.frames = lineChart(holder, view.legend, data, {
			labels,
			colors,
			strip: true,
			rest: rests(labels, colors),
			format: milliseconds,
			axis: (v) => `${trim(v, 4)} ms`,
			under: drawUnder(d, marks),
			pick: (x) => pickFrame(f.frame.indexOf(x)),
			zoomed: (most) => showCut(state.cut && Math.abs(most - usual(d)) < 1e-9),
		});
		if (state.cut) cutTops(true);
	};
	return el("section", {}, el("h2", {}, "Frames"), frameTools(), holder);
}

function pickFrame(row) {
	const { d } = current();
	if (row < 0 || row >= d.rows || Number.isNaN(row)) return;
	state.row = row;
	showFrame();
	if (view.frames) view.frames.updateOptions({}, false);
}

function slowest(d, column) {
	let best = 0;
	for (let i = 1; i < d.rows; i++) if (d.read[column][i] > d.read[column][best]) best = i;
	return best;
}

function framePicker(d) {
	const input = el("input", {
		id: "frame",
		size: 8,
		inputmode: "numeric",
		"aria-label": "frame number",
		onchange: () => {
			const row = d.read.frame.indexOf(Number(input.value));
			input.classList.toggle("bad", row < 0);
			pickFrame(row);
		},
	});
	const by = (step) => () => pickFrame(state.row + step);
	return el(
		"div",
		{ class: "row" },
		el("span", {}, "Frame"),
		el("button", { type: "button", title: "←", onclick: by(-1) }, "◀"),
		input,
		el("button", { type: "button", title: "→", onclick: by(1) }, "▶"),
		el(
			"button",
			{ type: "button", title: "s", onclick: () => pickFrame(slowest(d, "cpu")) },
			"slowest",
		),
		el(
			"button",
			{ type: "button", onclick: () => pickFrame(slowest(d, "gpu")) },
			"most GPU time",
		),
		el("span", { id: "frame-facts", class: "dim" }),
	);
}

function frameFacts(d, row) {
	const f = d.read;
	const bits = Number.isNaN(f.flags[row])
		? []
		: meta.flags.filter((name, i) => (BigInt(f.flags[row]) >> BigInt(i)) & 1n);
	return [
		`frame time ${withUnit(f.cpu[row], "ns")}`,
		`GPU ${Number.isNaN(f.gpu[row]) ? "- (not measured)" : duration(f.gpu[row])}`,
		Number.isNaN(f.envelope[row]) ? null : `first to last ${duration(f.envelope[row])}`,
		`coverage ${Number.isNaN(f.coverage[row]) ? "-" : percent(f.coverage[row])}`,
		f.unattributed[row] > 0 ? `outside passes ${duration(f.unattributed[row])}` : null,
		`our cost ${withUnit(f.overhead[row], "ns")}`,
		f.dropped[row] ? `${f.dropped[row]} passes dropped` : null,
		bits.length ? `flags ${bits.join(", ")}` : null,
	]
		.filter(Boolean)
		.join(" · ");
}

async function showFrame() {
	const { d } = current(),
		box = document.getElementById("frame-bars");
	if (!box || !d.rows) return;
	const row = state.row,
		ticket = ++view.drawn;
	document.getElementById("frame").value = String(d.read.frame[row]);
	document.getElementById("frame-facts").textContent = frameFacts(d, row);
	const passes = await passesOf(d, row);
	if (ticket !== view.drawn) return;
	if (!passes) {
		box.replaceChildren(
			el(
				"p",
				{ class: "dim" },
				`The page keeps the passes of every ${d.bar_step}th frame, to stay small.`,
			),
		);
		return;
	}
	const unplaced = passes.filter((p) => !Number.isFinite(p.start) || !Number.isFinite(p.gpu));
	const names = [...new Set(unplaced.map((p) => d.groups[p.place].name))];
	const more = names.length > 8 ? ", …" : "",
		listed = names.slice(0, 8).join(", ") + more;
	box.replaceChildren(
		lanes(d, passes, openPass),
		el(
			"p",
			{ class: "dim" },
			`${passes.length} ${passes.length === 1 ? "pass" : "passes"}` +
				(unplaced.length
					? `, ${unplaced.length} without a place in time: ${listed}`
					: ""),
		),
	);
}

/* One lane a queue or context; a bar a pass, where it ran, if its place in time is known. */
function laneName(kind) {
	if (kind[0] !== null) return `queue ${kind[0]}`;
	return kind[1] >= 0 ? `context ${kind[1]}` : "GPU";
}

function lanes(d, passes, open) {
	const timed = passes.filter((p) => Number.isFinite(p.start) && Number.isFinite(p.gpu));
	if (!timed.length)
		return el("p", { class: "dim" }, "No pass of this frame has a GPU start and time.");
	const low = Math.min(...timed.map((p) => p.start)),
		high = Math.max(...timed.map((p) => p.start + p.gpu));
	const span = high - low || 1,
		byName = new Map();
	for (const p of timed) {
		const name = laneName(p.kind);
		if (!byName.has(name)) byName.set(name, []);
		byName.get(name).push(p);
	}
	const box = el("div", { class: "lanes" });
	for (const [name, list] of byName) {
		const lane = el("div", { class: "lane" }, el("span", { class: "lane-name" }, name));
		for (const p of list) {
			const group = d.groups[p.place],
				share = p.gpu / span;
			const words =
				`${group.name}: ${duration(p.gpu)}, from ${duration(p.start - low)}` +
				(p.kind[2].length ? ` (${p.kind[2].join(", ")})` : "");
			const bar = el(
				"button",
				{
					class: share < 0.01 ? "bar narrow" : "bar",
					type: "button",
					title: words,
					"aria-label": words,
					onclick: () => open(p.place),
				},
				share < 0.02 ? "" : group.name,
			);
			bar.style.left = `${(100 * (p.start - low)) / span}%`;
			bar.style.width = `${100 * share}%`;
			bar.style.background = colour(p.place);
			lane.append(bar);
		}
		box.append(lane);
	}
	const clock = timed.some((p) => p.kind[2].includes("uncalibrated"));
	const begin = clock
		? "0 (the GPU's own clock)"
		: low >= 0
			? `${duration(low)} into the frame`
			: `${duration(-low)} before the frame`;
	return el(
		"div",
		{},
		box,
		el(
			"div",
			{ class: "scale" },
			el("span", {}, begin),
			el("span", {}, `+ ${duration(span)}`),
		),
	);
}
