/* Charts: lines by dygraphs (drag to zoom, double click to see all, a strip below to move), the
 * distribution and the passes of a frame by our own elements. */
const charts = new Set();

function forget() {
	for (const c of charts) c.destroy();
	charts.clear();
}

/* The strip below a chart skips rows to be quick; what it draws holds each peak for some rows, so
 * that none is skipped. The first series of `data` is meant. */
const STRIP = "strip",
	STRIP_PLACES = 400;

function withStrip(data) {
	const block = Math.max(1, Math.ceil(data.length / STRIP_PLACES));
	const most = new Array(Math.ceil(data.length / block)).fill(null);
	data.forEach((row, i) => {
		const at = Math.floor(i / block);
		if (row[1] !== null && (most[at] === null || row[1] > most[at])) most[at] = row[1];
	});
	return data.map((row, i) => [...row, most[Math.floor(i / block)]]);
}

/* data: rows of [x, y...]. o: labels, colors, format(y), axis(y), rest(legend); may have strip, pick(x)
 * on a click, under() to draw below the lines, drawn(chart) when it was drawn anew,
 * zoomed(highest y shown). */
function lineChart(holder, legend, data, o) {
	const labels = o.strip ? [...o.labels, STRIP] : o.labels;
	const chart = new Dygraph(holder, o.strip ? withStrip(data) : data, {
		labels,
		colors: o.colors,
		legend: "never",
		strokeWidth: 1.1,
		connectSeparatedPoints: false,
		visibility: labels.slice(1).map((name) => name !== STRIP),
		series: o.strip ? { [STRIP]: { showInRangeSelector: true } } : {},
		/* The strip would turn dragging in the chart into moving it. */
		interactionModel: Dygraph.defaultInteractionModel,
		showRangeSelector: Boolean(o.strip),
		rangeSelectorHeight: 32,
		rangeSelectorPlotStrokeColor: theme("dim"),
		rangeSelectorPlotFillColor: theme("line"),
		rangeSelectorPlotFillGradientColor: theme("line"),
		rangeSelectorBackgroundStrokeColor: theme("line"),
		rangeSelectorForegroundStrokeColor: theme("dim"),
		gridLineColor: theme("line"),
		axisLineColor: theme("line"),
		highlightCircleSize: 3,
		includeZero: true,
		drawPoints: data.length < 60,
		pointSize: 2,
		labelsKMB: false,
		animatedZooms: false,
		axes: {
			y: { axisLabelWidth: 62, axisLabelFormatter: o.axis },
			x: { axisLabelFormatter: (v) => plain(v) },
		},
		highlightCallback(event, x, points) {
			legend.replaceChildren(
				el("span", {}, `frame ${plain(x)}`),
				...points.map((p) =>
					el(
						"span",
						{},
						swatch(o.colors[o.labels.indexOf(p.name) - 1]),
						`${p.name}: ${o.format(p.yval)}`,
					),
				),
			);
		},
		unhighlightCallback() {
			o.rest(legend);
		},
		clickCallback(event, x) {
			if (o.pick) o.pick(x);
		},
		underlayCallback(canvas, area, g) {
			if (o.under) o.under(canvas, area, g);
		},
		zoomCallback(from, to, heights) {
			if (o.zoomed) o.zoomed(heights[0][1]);
		},
		drawCallback(g, first) {
			if (o.drawn && !first) o.drawn(g);
		},
	});
	o.rest(legend);
	charts.add(chart);
	return chart;
}

function rests(labels, colors) {
	return (legend) =>
		legend.replaceChildren(
			...labels
				.slice(1)
				.map((name, i) => el("span", {}, swatch(colors[i]), name)),
		);
}

function upright(canvas, area, g, x, fill, word, slot) {
	const at = Math.round(g.toDomXCoord(x)) + 0.5;
	if (at < area.x || at > area.x + area.w) return;
	canvas.save();
	canvas.strokeStyle = canvas.fillStyle = fill;
	canvas.beginPath();
	canvas.moveTo(at, area.y);
	canvas.lineTo(at, area.y + area.h);
	canvas.stroke();
	if (word) {
		canvas.font = "11px system-ui, sans-serif";
		const room = canvas.measureText(word).width;
		canvas.fillText(
			word,
			at + 3 + room > area.x + area.w ? at - 3 - room : at + 3,
			area.y + 11 + 12 * slot,
		);
	}
	canvas.restore();
}

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
	const out = svg("svg", {
		viewBox: `0 0 ${W} ${H}`,
		width: "100%",
		role: "img",
		"aria-label": "distribution",
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
	out.append(
		svg(
			"text",
			{ x: left, y: H - 7 },
			withUnit(low, unit) + (all[0] < low ? " and less" : ""),
		),
	);
	if (n > 1)
		out.append(
			svg(
				"text",
				{ x: W - left, y: H - 7, "text-anchor": "end" },
				withUnit(high, unit) +
					(all[all.length - 1] > high ? " and more" : ""),
			),
		);
	out.append(
		svg(
			"text",
			{ x: left, y: 11 },
			`tallest bar: ${(100 * most).toFixed(1)} % of frames`,
		),
	);
	return out;
}
