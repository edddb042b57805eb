/* SPDX-License-Identifier: MIT */
/* Charts of lines, by dygraphs: drag to zoom, double click to see all, a strip below to move. */
const charts = new Set();

function forget() {
	for (const c of charts) c.destroy();
	charts.clear();
}

/* The strip below a chart skips rows to be quick; what it draws holds each peak for some rows, so
 * that none is skipped. `peaks`: the longest frame by x. */
const STRIP = "strip",
	STRIP_PLACES = 400;

function withStrip(data, peaks) {
	const block = Math.max(1, Math.ceil(data.length / STRIP_PLACES));
	const most = new Array(Math.ceil(data.length / block)).fill(null);
	data.forEach((row, i) => {
		const at = Math.floor(i / block),
			peak = peaks.get(row[0]);
		if (peak !== undefined && (most[at] === null || peak > most[at])) most[at] = peak;
	});
	return data.map((row, i) => {
		const peak = peaks.has(row[0]) ? most[Math.floor(i / block)] : null;
		return [...row, [peak, peak, peak]];
	});
}

/* data: rows of [x, y...]. o: labels, colors, format(y), axis(y), rest(legend); may have peaks (the
 * strip; each y is [low, y, high] then), stacked, pick(x) on a click, under() to draw below the lines, drawn(chart) when it was drawn again, window (the
 * part of x to show), limit (the highest y while tops are cut off). */
function lineChart(holder, legend, data, o) {
	const labels = o.peaks ? [...o.labels, STRIP] : o.labels;
	const chart = new Dygraph(holder, o.peaks ? withStrip(data, o.peaks) : data, {
		customBars: Boolean(o.peaks),
		stackedGraph: Boolean(o.stacked),
		stackedGraphNaNFill: "none",
		fillAlpha: o.stacked ? 0.75 : 0.25,
		labels,
		colors: o.colors,
		legend: "never",
		strokeWidth: 1.1,
		connectSeparatedPoints: false,
		visibility: labels.slice(1).map((name) => name !== STRIP),
		series: o.peaks ? { [STRIP]: { showInRangeSelector: true } } : {},
		/* The strip would turn dragging in the chart into moving it. */
		interactionModel: Dygraph.defaultInteractionModel,
		showRangeSelector: Boolean(o.peaks),
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
		dateWindow: o.window || null,
		valueRange: o.limit && state.cut ? [0, o.limit] : null,
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
			if (!o.limit) return;
			/* All was asked for: that is up to p99 again. A part was: that is no longer. */
			if (!chart.isZoomed("y")) cutTops(state.cut);
			else if (Math.abs(heights[0][1] - o.limit) > 1e-9) showCut(false);
		},
		drawCallback(g, first) {
			if (o.drawn && !first) o.drawn(g);
		},
	});
	for (const handle of holder.querySelectorAll("img")) handle.alt = "";
	o.rest(legend);
	chart.limit = o.limit;
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
		const left = at + 3 + room > area.x + area.w ? at - 3 - room : at + 3;
		canvas.fillStyle = theme("back");
		canvas.fillRect(left - 1, area.y + 12 * slot, room + 2, 13);
		canvas.fillStyle = fill;
		canvas.fillText(word, left, area.y + 11 + 12 * slot);
	}
	canvas.restore();
}
