/* SPDX-License-Identifier: MIT */
/* Two logs side by side: passes joined by identity, with what `passtally compare` says of each. */
function signed(v, words) {
	return Number.isFinite(v) ? `${v > 0 ? "+" : v < 0 ? "-" : ""}${words(Math.abs(v))}` : "-";
}

/* Three digits, as in the text of `passtally compare`. */
function signedPercent(v) {
	const size = Math.abs(v),
		digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
	return Number.isFinite(v) ? `${v < 0 ? "" : "+"}${v.toFixed(digits)}%` : "-";
}

function passKey(g) {
	return g.outside ? "outside" : g.id;
}

/* Sums hold the passes of a frame that the run's end cut short: it is one of their frames. */
function totalOf(g, d, series) {
	const frames = d.frames + d.partial_frames || 1;
	return g ? (stat(g, series, "n") ? stat(g, series, "sum") / frames : NaN) : 0;
}

/* `key`: the value that is compared. */
function joinPasses(la, a, lb, b, key) {
	const left = new Map(b.groups.map((g) => [passKey(g), g])),
		pairs = [];
	for (const g of a.groups) {
		pairs.push([g, left.get(passKey(g)) || null]);
		left.delete(passKey(g));
	}
	for (const g of left.values()) pairs.push([null, g]);
	const sa = seriesIn(la, key),
		sb = seriesIn(lb, key);
	const isSomething = ([ga, gb]) => [ga, gb].some((g) => g && !g.nothing);
	return pairs.filter(isSomething).map(([ga, gb]) => {
		const one = ga || gb,
			x = stat(ga, sa, "mean"),
			y = stat(gb, sb, "mean");
		return {
			a: ga,
			b: gb,
			name: one.name,
			id: one.id,
			kind: one.kind,
			queue: one.queue,
			flags: one.flags,
			sa,
			sb,
			before: x,
			after: y,
			change: y - x,
			ratio: (100 * (y - x)) / x,
			cost: totalOf(gb, b, sb) - totalOf(ga, a, sa),
			state: !ga ? "new in B" : !gb ? "gone in B" : "",
			verdict: ga && gb ? verdictOf(a.device, passKey(ga), key) : null,
		};
	});
}

function compareColumns(rows, info) {
	const time = info.unit === "ns";
	const unit = unitFor(
		Math.max(
			largest(rows, (p) => p.before),
			largest(rows, (p) => p.after),
		),
	);
	const words = time ? (v) => inUnit(v, unit) : (v) => withUnit(v, info.unit);
	const small = time ? unit[0] : null,
		title = time ? "GPU mean" : "mean";
	const columns = [
		{ key: "name", title: "pass", of: (p) => p.name },
		{
			key: "state",
			title: meta.verdict && meta.verdict.lines ? "verdict" : "state",
			of: (p) => p.state || verdictWords(p.verdict),
			hint: "as passtally compare judges it",
		},
		{ key: "before", title: `A: ${title}`, small, of: (p) => p.before, side: "a" },
		{ key: "after", title: `B: ${title}`, small, of: (p) => p.after, side: "b" },
		{
			key: "ratio",
			title: "change",
			of: (p) => p.ratio,
			show: (p) => (p.verdict ? changeWords(p.verdict, words) : signedPercent(p.ratio)),
		},
		{
			key: "interval",
			title: meta.verdict && meta.verdict.lines ? `${100 * meta.verdict.confidence} % interval` : "",
			of: (p) => (p.verdict ? p.verdict.low_pct : NaN),
			show: (p) => intervalCell(p.verdict, words),
		},
		{
			key: "cost",
			title: "a frame",
			small,
			of: (p) => Math.abs(p.cost),
			show: (p) => signed(p.cost, words),
			hint: "difference of the pass's GPU time over all frames, divided by the frames: what it does to a frame",
		},
	];
	return { words, columns: columns.filter((c) => c.title && (time || c.key !== "cost")) };
}

function compareCell(c, p, words, sides, unit) {
	if (c.side) {
		const { log, d } = sides[c.side],
			g = p[c.side];
		if (!g) return el("td", { title: "this pass is not in that log" }, "-");
		return valueCell(
			log,
			d,
			g,
			c.side === "a" ? p.sa : p.sb,
			"mean",
			unit,
			unit === "ns" ? words : null,
		);
	}
	if (!c.show)
		return el(
			"td",
			{
				title: c.key === "name" ? `${p.name}\nid ${p.id}` : null,
			},
			c.of(p),
		);
	const text = c.show(p);
	return el(
		"td",
		{
			class: judged(p.verdict, unit),
			title: text === "-" ? p.state || "needs a value in both logs" : null,
		},
		text,
	);
}

/* Which values both logs have. */
function sharedSeries(la, a, lb, b) {
	const there = new Set(usedSeries(lb, b).map((s) => lb.series[s].key));
	return [
		"gpu_ns",
		...usedSeries(la, a)
			.map((s) => la.series[s].key)
			.filter((key) => there.has(key)),
	];
}

function valuePicker(keys, redraw) {
	if (!keys.includes(state.by)) state.by = "gpu_ns";
	return el(
		"select",
		{
			id: "by",
			"aria-label": "value to compare",
			onchange: (e) => {
				state.by = e.target.value;
				state.sort = state.by === "gpu_ns" ? "cost" : "ratio";
				state.down = true;
				redraw();
			},
		},
		...keys.map((key) =>
			el(
				"option",
				{ value: key, selected: key === state.by },
				seriesTitle(
					meta.logs[0].series[seriesIn(meta.logs[0], key)] || { key },
				),
			),
		),
	);
}

function openPair(p, la, a, lb, b) {
	const series = (log) => Math.max(0, seriesIn(log, state.by));
	const to = p.a
		? {
				log: 0,
				device: la.devices.indexOf(a),
				pass: a.groups.indexOf(p.a),
				series: series(la),
			}
		: {
				log: 1,
				device: lb.devices.indexOf(b),
				pass: b.groups.indexOf(p.b),
				series: series(lb),
			};
	return () => go(to, { y: 0, focus: "#heading" });
}

function compareTable(la, a, lb, b) {
	const head = el("thead"),
		body = el("tbody"),
		count = el("span", { class: "dim", id: "count", role: "status" });
	const sides = { a: { log: la, d: a }, b: { log: lb, d: b } };
	const draw = () => {
		const info = la.series[seriesIn(la, state.by)],
			all = joinPasses(la, a, lb, b, state.by);
		const { columns, words } = compareColumns(all, info);
		if (!columns.some((c) => c.key === state.sort))
			Object.assign(state, {
				sort: state.by === "gpu_ns" ? "cost" : "ratio",
				down: true,
			});
		const rows = sorted(
			all.filter(matches),
			columns.find((c) => c.key === state.sort),
		);
		head.replaceChildren(headRow(columns, draw));
		body.replaceChildren(
			...rows.map((p) =>
				openable(
					el(
						"tr",
						{
							"data-place": `pass-${p.id}`,
							class: isNoise(p.verdict) ? "noise" : null,
						},
						...columns.map((c) =>
							compareCell(c, p, words, sides, info.unit),
						),
					),
					openPair(p, la, a, lb, b),
				),
			),
		);
		count.textContent = `${rows.length} of ${countOfPasses(all.length)}`;
		shown = rows;
	};
	let shown = [];
	const csv = () => [
		["pass", "id", "key", "a_mean", "b_mean", "difference", "percent", "verdict"],
		...shown.map((p) => [
			p.name,
			p.id,
			state.by,
			p.before,
			p.after,
			p.change,
			p.ratio,
			p.state || verdictWords(p.verdict),
		]),
	];
	const picker = valuePicker(sharedSeries(la, a, lb, b), draw);
	draw();
	return el(
		"section",
		{},
		el("h2", {}, "Passes of both"),
		el(
			"div",
			{ class: "row" },
			picker,
			filterBox(draw),
			count,
			csvButton("compare", csv),
		),
		el("div", { class: "wide" }, el("table", { id: "passes", "aria-label": "Passes of both runs" }, head, body)),
	);
}

function compareChart(a, b, column, title, others) {
	const holder = el("div", { class: "chart small" }),
		legend = el("span", { class: "legend" });
	const step = Math.min(a.step, b.step),
		rows = Math.ceil(Math.max(a.all_rows, b.all_rows) / step);
	const ms = (d, place) => {
		const v = d.read[column][Math.floor(place / d.step)];
		return Number.isFinite(v) ? v / 1e6 : null;
	};
	const data = Array.from({ length: rows }, (unused, i) => [
		i * step,
		ms(a, i * step),
		ms(b, i * step),
	]);
	const labels = ["frame", "A", "B"],
		colors = [theme("gpu"), theme("cpu")];
	return {
		box: el(
			"section",
			{},
			el("h2", {}, title),
			el(
				"div",
				{ class: "row" },
				legend,
				el(
					"span",
					{ class: "dim" },
					"by place in the run · drag: zoom both · double click: all",
				),
			),
			holder,
		),
		draw: () =>
			others.push(
				lineChart(holder, legend, data, {
					labels,
					colors,
					rest: rests(labels, colors),
					format: milliseconds,
					axis: (v) => `${trim(v, 4)} ms`,
					drawn: (g) => together(g, others),
				}),
			),
	};
}

/* The other chart shows the same frames. */
function together(chart, charted) {
	const [from, to] = chart.xAxisRange();
	for (const c of charted) {
		const range = c.xAxisRange();
		if (c !== chart && (range[0] !== from || range[1] !== to))
			c.updateOptions({ dateWindow: [from, to] });
	}
}

/* The device of the other log that has the same number, or the one that it would show. */
function twinDevice(log, d) {
	return (
		log.devices.find((x) => x.device === d.device && x.rows) ||
		log.devices[shownDevice(log)]
	);
}

async function showCompare(ticket) {
	const [la, lb] = meta.logs,
		own = current().d;
	const a = own && (state.log === 0 ? own : twinDevice(la, own)),
		b = own && (state.log === 0 ? twinDevice(lb, own) : own);
	if (!a || !b || !a.rows || !b.rows) {
		main.replaceChildren(
			el("p", {}, "Both logs need frames to be compared."),
			aboutSection(la, a, true),
			aboutSection(lb, b, true),
		);
		return;
	}
	await Promise.all([readFrames(a), readFrames(b)]);
	if (ticket !== view.ticket) return;
	const linked = [],
		times = compareChart(a, b, "cpu", "Frame time", linked),
		gpu = compareChart(a, b, "gpu", "GPU time", linked);
	main.replaceChildren(
		verdictSection(),
		bothTable(la, a, lb, b, bothNumbers(a, b), "both"),
		el("div", { class: "two" }, times.box, gpu.box),
		compareTable(la, a, lb, b),
		methodSection(),
		el(
			"details",
			{ class: "about", id: "about" },
			el("summary", {}, el("h2", {}, "About these runs")),
			bothTable(la, a, lb, b, bothRows(la, a, lb, b), "both-facts"),
		),
		notesSection(la, "A"),
		notesSection(lb, "B"),
		readingSection(),
	);
	times.draw();
	gpu.draw();
}
