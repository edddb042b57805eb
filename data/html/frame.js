/* SPDX-License-Identifier: MIT */
/* One frame: which one, its passes in time order, by label, and against the median frame. */
function pickFrame(row) {
	const { d } = current();
	if (row < 0 || row >= d.rows || Number.isNaN(row)) return;
	state.row = row;
	state.frame = d.read.frame[row];
	noteAddress();
	showFrame();
	if (view.frames) view.frames.updateOptions({}, false);
}

function slowest(d, column) {
	let best = 0;
	for (let i = 1; i < d.rows; i++)
		if (d.read[column][i] > (d.read[column][best] || 0)) best = i;
	return best;
}

/* The frame of that number; without one, the median frame. */
function rowOfFrame(d, frame) {
	const found = frame === null ? -1 : d.read.frame.indexOf(frame);
	if (found >= 0 || !d.cpu_ns.n) return Math.max(0, found);
	const median = d.cpu_ns.p50;
	let best = 0;
	const far = (i) => Math.abs(d.read.cpu[i] - median);
	for (let i = 0; i < d.rows; i++) if (far(i) < far(best)) best = i;
	return best;
}

/* The frame of that number, or of a long run the one that is kept beside it. */
function rowNear(d, frame) {
	const far = (i) => Math.abs(d.read.frame[i] - frame);
	let best = 0;
	for (let i = 1; i < d.rows; i++) if (far(i) < far(best)) best = i;
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
	const button = (words, title, act, label) =>
		el("button", { type: "button", title, "aria-label": label, onclick: act }, words);
	const by = (step) => () => pickFrame(state.row + step);
	return el(
		"div",
		{ class: "row" },
		button("◀", "←", by(-1), "frame before"),
		input,
		button("▶", "→", by(1), "frame after"),
		button("median", "the frame of median frame time", () =>
			pickFrame(rowOfFrame(d, null)),
		),
		button("slowest", "s", () => pickFrame(slowest(d, "cpu"))),
		d.gpu_ns.n ? button("most GPU time", null, () => pickFrame(slowest(d, "gpu"))) : null,
		el("span", { id: "frame-facts", class: "dim", role: "status" }),
	);
}

function frameSection(d) {
	return el(
		"section",
		{},
		el("h2", {}, "One frame"),
		framePicker(d),
		el("div", { id: "frame-bars" }),
	);
}

/* "not in a pass", or "passes drawn together". */
function restName(d) {
	return (d.groups.find((g) => g.outside)?.name ?? "not in a pass").replace(/[()]/g, "");
}

function frameFacts(d, row) {
	const f = d.read;
	const bits = Number.isNaN(f.flags[row])
		? []
		: meta.flags.filter((name, i) => (BigInt(f.flags[row]) >> BigInt(i)) & 1n);
	return [
		`frame time ${withUnit(f.cpu[row], "ns")}`,
		`GPU ${Number.isNaN(f.gpu[row]) ? "- (not measured)" : duration(f.gpu[row])}`,
		/* With idle time between its passes, or with passes at the same time. */
		Number.isNaN(f.envelope[row]) || f.envelope[row] === f.gpu[row]
			? null
			: `GPU from first pass to end ${duration(f.envelope[row])}`,
		`in passes ${Number.isNaN(f.coverage[row]) ? "-" : percent(f.coverage[row])}`,
		f.unattributed[row] > 0 ? `${restName(d)} ${duration(f.unattributed[row])}` : null,
		`passtally ${withUnit(f.overhead[row], "ns")}`,
		f.dropped[row] ? `${f.dropped[row]} passes dropped` : null,
		bits.length ? `flags ${bits.join(", ")}` : null,
	]
		.filter(Boolean)
		.join(" · ");
}

function showFrame() {
	const { d } = current(),
		box = document.getElementById("frame-bars");
	if (!box || !d.rows) return;
	const row = state.row;
	document.getElementById("frame").value = String(d.read.frame[row]);
	document.getElementById("frame-facts").textContent = frameFacts(d, row);
	const passes = passesOf(d, row);
	const rows = frameRows(d, row, passes);
	const tree = icicle(
		rows
			.filter((r) => !r.missing)
			.map((r) => ({ ...r, value: r.gpu || 0, passes: 1 })),
	);
	const focus = box.contains(document.activeElement) ? placeOf(document.activeElement) : null;
	box.replaceChildren(
		...lanesSection(d, row, passes),
		...(tree ? [el("h3", {}, "GPU time by label"), tree] : []),
		frameTable(d, row, rows),
	);
	box.dataset.frame = d.read.frame[row];
	placeLanes();
	if (focus) document.querySelector(focus)?.focus({ preventScroll: true });
}

/* One lane a queue or context; a bar a pass, where it ran, if its place in time is known. */
function laneName(kind) {
	if (kind[0] !== null) return `queue ${kind[0]}`;
	return kind[1] >= 0 ? `context ${kind[1]}` : "GPU";
}

function timed(p) {
	return Number.isFinite(p.start) && Number.isFinite(p.gpu);
}

function laneBar(p, d, span, clock) {
	const group = d.groups[p.place],
		share = p.gpu / span.ns;
	const words =
		`${group.name}: ${duration(p.gpu)}, from ${duration(p.start - clock)}` +
		(p.kind[2].length ? ` (${p.kind[2].join(", ")})` : "");
	const bar = el(
		"button",
		{
			class: share * state.scale < 0.01 ? "bar narrow" : "bar",
			type: "button",
			title: words,
			"aria-label": words,
			"data-place": `bar-${p.index}`,
			onclick: () => openPass(p.place),
		},
		share * state.scale < 0.02 ? "" : group.name,
	);
	bar.style.left = `${(100 * (p.start - span.low)) / span.ns}%`;
	bar.style.width = `${100 * share}%`;
	bar.style.background = colour(p.place);
	return bar;
}

/* The CPU's side: the frame from present to present, and where it recorded each pass. */
function cpuLane(d, row, passes, span) {
	const cpu = d.read.cpu[row];
	const lane = el("div", { class: "lane cpu" }, el("span", { class: "lane-name" }, "CPU"));
	const words = `frame on the CPU: ${duration(cpu)} from present to present`;
	const bar = el("div", {
		class: "bar frame",
		title: words,
		role: "img",
		"aria-label": words,
	});
	bar.style.left = `${(100 * -span.low) / span.ns}%`;
	bar.style.width = `${(100 * cpu) / span.ns}%`;
	lane.append(bar);
	for (const p of passes) {
		if (!Number.isFinite(p.cpu)) continue;
		const tick = el("div", {
			class: "tick",
			title: `${d.groups[p.place].name}: begun by the CPU ${duration(p.cpu)} into the frame`,
		});
		tick.style.left = `${(100 * (p.cpu - span.low)) / span.ns}%`;
		tick.style.background = colour(p.place);
		lane.append(tick);
	}
	return lane;
}

/* From where to where the lanes reach, in ns since the frame began. With the GPU's own clock only
 * the GPU's side has a place. */
function spanOf(d, row, placed) {
	const own = placed.some((p) => p.kind[2].includes("uncalibrated"));
	const low = placed.length ? Math.min(...placed.map((p) => p.start)) : 0,
		high = placed.length ? Math.max(...placed.map((p) => p.start + p.gpu)) : 0;
	const both = !own && Number.isFinite(d.read.cpu[row]) && d.read.cpu[row] > 0;
	const from = both ? Math.min(0, low) : low,
		to = both ? Math.max(d.read.cpu[row], high) : high;
	return { low: from, ns: to - from || 1, both, own, begin: low };
}

function lanes(d, row, passes, span) {
	const placed = passes.filter(timed),
		byName = new Map();
	for (const p of placed) {
		const name = laneName(p.kind);
		if (!byName.has(name)) byName.set(name, []);
		byName.get(name).push(p);
	}
	const inner = el("div", { class: "lanes-inner" });
	inner.style.width = `${100 * state.scale}%`;
	if (span.both) inner.append(cpuLane(d, row, passes, span));
	for (const [name, list] of byName) {
		const lane = el("div", { class: "lane" }, el("span", { class: "lane-name" }, name));
		lane.append(...list.map((p) => laneBar(p, d, span, span.both ? 0 : span.begin)));
		inner.append(lane);
	}
	const outer = el(
		"div",
		{
			class: "lanes scrolls",
			id: "lanes",
			tabindex: 0,
			role: "group",
			"aria-label": "the frame's passes in time order",
		},
		inner,
	);
	outer.addEventListener("scroll", () => {
		const room = inner.offsetWidth - outer.clientWidth;
		const at = room > 0 ? outer.scrollLeft / room : 0;
		if (Math.abs(at - state.at) < 1e-4) return;
		state.at = at;
		noteAddress();
	});
	return outer;
}

function placeLanes() {
	const outer = document.getElementById("lanes");
	if (!outer) return;
	outer.scrollLeft = state.at * (outer.firstChild.offsetWidth - outer.clientWidth);
}

/* The middle of what is seen stays where it is. */
async function scaleFrame(factor) {
	const old = state.scale,
		scale = factor ? Math.min(64, Math.max(1, old * factor)) : 1;
	const middle = (state.at * (old - 1) + 0.5) / old;
	const at = scale > 1 ? (middle * scale - 0.5) / (scale - 1) : 0;
	state.scale = scale;
	state.at = Math.min(1, Math.max(0, at));
	noteAddress();
	await showFrame();
}

function lanesSection(d, row, passes) {
	const placed = passes.filter(timed);
	const count = countOfPasses(passes.length);
	if (!placed.length && !(d.read.cpu[row] > 0))
		return [el("p", { class: "dim" }, `${count}, without times.`)];
	const span = spanOf(d, row, placed);
	const button = (id, words, label, act) =>
		el(
			"button",
			{ type: "button", id, title: label, "aria-label": label, onclick: act },
			words,
		);
	const begin = span.own
		? "0 (the GPU's own clock)"
		: span.both && span.low === 0
			? "the frame's begin"
			: span.low >= 0
				? `${duration(span.low)} into the frame`
				: `${duration(-span.low)} before the frame`;
	const missing = passes.length - placed.length;
	return [
		el(
			"div",
			{ class: "row" },
			button("frame-closer", "+", "zoom into the frame", () => scaleFrame(2)),
			button("frame-wider", "−", "zoom out of the frame", () => scaleFrame(0.5)),
			button("frame-all", "Whole frame", "the whole frame", () => scaleFrame(0)),
			el(
				"span",
				{ class: "dim" },
				count +
					(missing
						? `, ${missing} without a GPU start and time`
						: ""),
			),
		),
		lanes(d, row, passes, span),
		el(
			"div",
			{ class: "scale" },
			el("span", {}, begin),
			el("span", {}, `+ ${duration(span.ns)}`),
		),
	];
}

/* Segments of a pass are one row, as everywhere. */
function joinedPasses(d, passes) {
	const rows = new Map();
	for (const p of passes) {
		const row = rows.get(p.place) || {
			place: p.place,
			group: d.groups[p.place],
			index: rows.size,
			gpu: 0,
			start: p.start,
		};
		row.gpu += p.gpu;
		rows.set(p.place, row);
	}
	return [...rows.values()];
}

/* Whether the median frame has it; of several windows each has its frames. */
function isUsual(d, group) {
	return group.frames * d.windows > (d.frames + d.partial_frames) / 2 && !group.outside;
}

/* The frame's passes beside the median frame: each pass's median, and what is usual but missing;
 * then what is no pass's own, so that the rows are all of the frame's GPU time. */
function frameRows(d, row, passes) {
	const rows = joinedPasses(d, passes);
	const there = new Set(rows.map((r) => r.place));
	const place = d.groups.findIndex((g) => g.outside);
	if (place >= 0 && d.read.unattributed[row] > 0) {
		const gpu = d.read.unattributed[row];
		rows.push({ place, group: d.groups[place], index: rows.length, gpu });
	}
	d.groups.forEach((group, place) => {
		if (d.windows === 1 && isUsual(d, group) && !there.has(place))
			rows.push({ place, group, index: rows.length, gpu: NaN, missing: true });
	});
	for (const r of rows) {
		const usual = r.group.outside || isUsual(d, r.group);
		r.median = usual ? stat(r.group, 0, "p50") : 0;
		r.change = r.missing ? -r.median : r.gpu - r.median;
	}
	return rows;
}

function frameRow(r, unit, total) {
	const big = Math.abs(r.change) > 0.25 * r.median && Math.abs(r.change) > 0.02 * total;
	const time = (v) => (Number.isFinite(v) ? inUnit(v, unit) : "-");
	const change = Math.abs(r.change) < unit[1] / 2000 ? 0 : r.change;
	return openable(
		el(
			"tr",
			{ "data-place": `frame-pass-${r.group.id ?? "outside"}` },
			el("td", { class: "name" }, swatch(colour(r.place)), r.group.name),
			el(
				"td",
				{ title: r.missing ? "this pass did not run in this frame" : null },
				r.missing ? "not in it" : time(r.gpu),
			),
			el("td", {}, r.median === 0 ? "not in it" : time(r.median)),
			el(
				"td",
				{ class: big ? (r.change > 0 ? "bad" : "good") : null },
				Number.isFinite(r.change)
					? signed(change, (v) => inUnit(v, unit))
					: "-",
			),
			el("td", {}, total > 0 && r.gpu >= 0 ? percent(r.gpu / total) : "-"),
		),
		() => openPass(r.place),
	);
}

function frameTable(d, row, rows) {
	const order = state.frameSort || "index";
	rows.sort((a, b) =>
		order === "index" ? a.index - b.index : (b[order] || 0) - (a[order] || 0),
	);
	const unit = unitFor(largest(rows, (r) => Math.max(r.gpu || 0, r.median || 0)));
	const total = rows.reduce((sum, r) => sum + (r.gpu || 0), 0);
	const head = (key, words, small) =>
		el(
			"th",
			{
				scope: "col",
				"aria-sort":
					order === key
						? key === "index"
							? "ascending"
							: "descending"
						: null,
			},
			el(
				"button",
				{
					type: "button",
					"data-place": `frame-sort-${key}`,
					onclick: async () => {
						state.frameSort = key;
						const to = placeNow();
						await showFrame();
						restorePlace(to);
					},
				},
				words,
				small ? el("small", {}, ` ${small}`) : null,
				order === key ? " ▾" : null,
			),
		);
	const csv = () => [
		["pass", "id", "gpu_ns", "median_ns", "difference_ns"],
		...rows.map((r) => [r.group.name, r.group.id ?? "", r.gpu, r.median, r.change]),
	];
	return el(
		"div",
		{},
		el(
			"div",
			{ class: "row" },
			el("h3", {}, "Its passes against the median frame"),
			csvButton(`frame-${d.read.frame[row]}`, csv),
		),
		el(
			"div",
			{ class: "wide" },
			el(
				"table",
				{ id: "frame-passes", "aria-label": "Passes of this frame and of the median frame" },
				el(
					"thead",
					{},
					el(
						"tr",
						{},
						head("index", "pass, in order"),
						head("gpu", "this frame", unit[0]),
						head("median", "median", unit[0]),
						head("change", "difference", unit[0]),
						el("th", { scope: "col" }, "share of the frame"),
					),
				),
				el("tbody", {}, ...rows.map((r) => frameRow(r, unit, total))),
			),
		),
	);
}
