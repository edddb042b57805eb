/* SPDX-License-Identifier: MIT */
/* The page of one pass: each counter and metric with its distribution and its trend. With two logs, both. */
function sidesOf(log, d, group) {
	const sides = [
		{
			name: meta.logs.length > 1 ? "AB"[state.log] : "this run",
			log,
			d,
			group,
			color: theme(state.log ? "cpu" : "gpu"),
		},
	];
	if (meta.logs.length < 2) return sides;
	const other = meta.logs[1 - state.log],
		od = other.devices.length ? twinDevice(other, d) : null;
	const twin = od && od.groups && od.groups.find((g) => passKey(g) === passKey(group));
	if (twin)
		sides.push({
			name: "AB"[1 - state.log],
			log: other,
			d: od,
			group: twin,
			color: theme(state.log ? "gpu" : "cpu"),
		});
	return sides;
}

/* The same key may have another place in another log. */
function seriesIn(log, key) {
	return log.series.findIndex((s) => s.key === key);
}

async function valuesOf(side, key) {
	const s = statsOf(side.group, seriesIn(side.log, key));
	return s ? series(s.column) : null;
}

async function setsOf(sides, key) {
	const sets = [];
	for (const side of sides) {
		const col = await valuesOf(side, key);
		if (!col) continue;
		await readFrames(side.d);
		sets.push({
			name: side.name,
			color: side.color,
			side,
			col,
			block: side.d.block,
			values: col.values,
		});
	}
	return sets;
}

/* By place in the run: two runs need not have the same frame numbers. */
function trendData(sets) {
	const rows = Math.max(...sets.map((s) => Math.ceil(s.side.d.all_rows / s.block)));
	const block = Math.max(...sets.map((s) => s.block));
	const { d } = sets[0].side,
		{ frame } = d.read,
		data = [];
	const number = (i) => frame[Math.min(Math.floor(i / d.step), frame.length - 1)];
	for (let i = 0; i < rows; i++) {
		const x = sets.length === 1 ? number(i * block) : i * block;
		data.push([
			x,
			...sets.map((s) => (Number.isFinite(s.col.rows[i]) ? s.col.rows[i] : null)),
		]);
	}
	return data;
}

function trendWords(sets) {
	const words = sets
		.filter((s) => s.block > 1)
		.map(
			(s) =>
				`${s.name}: each point is the mean of ${s.block} frames, to keep the page small`,
		);
	words.push(sets.length > 1 ? "by place in the run" : "click: that frame");
	return words.join(" · ");
}

/* Means over blocks of different lengths do not lie over each other: each side has its own chart then. */
async function drawSeries(box, sides, { key, unit, ...info }) {
	const title = seriesTitle({ key, ...info });
	const sets = await setsOf(sides, key);
	if (!box.isConnected) return;
	if (!sets.length) {
		box.replaceChildren(el("p", { class: "dim" }, "No values."));
		return;
	}
	const together = sets.every((s) => s.block === sets[0].block)
		? [sets]
		: sets.map((s) => [s]);
	const trends = together.map((list) => ({
		list,
		holder: el("div", {
			class: "chart small",
			role: "img",
			"aria-label": `${title} over the run: ${list.map((s) => spreadWords(s, unit)).join("; ")}`,
		}),
		legend: el("span", { class: "legend" }),
	}));
	const spread = sets.some((s) => s.block > 1)
		? el(
				"p",
				{ class: "dim" },
				"The values themselves are not in the page; see the quantiles in the table.",
			)
		: histogram(sets, unit);
	box.replaceChildren(
		el(
			"div",
			{},
			el(
				"div",
				{ class: "row" },
				el("h3", {}, `${title} over the run`),
				cutButton(),
			),
			...trends.flatMap((t) => [
				el(
					"div",
					{ class: "row" },
					t.legend,
					el("span", { class: "dim" }, trendWords(t.list)),
				),
				t.holder,
			]),
		),
		el("div", {}, el("h3", {}, `Distribution of ${lower(title)}`), spread),
	);
	for (const { list, holder, legend } of trends) {
		const labels = ["frame", ...list.map((s) => s.name)],
			colors = list.map((s) => s.color);
		lineChart(holder, legend, trendData(list), {
			labels,
			colors,
			rest: rests(labels, colors),
			format: (v) => withUnit(v, unit),
			axis: (v) => brief(v, unit),
			limit: seriesLimit(list, key),
			pick: sets.length === 1 ? (x) => openFrame(list[0].side.d, x) : null,
		});
	}
}

/* Up to here nearly all values lie, if they are of the kind that is never negative. */
function seriesLimit(sets, key) {
	const of = (s, which) => stat(s.side.group, seriesIn(s.side.log, key), which);
	const top = Math.max(...sets.map((s) => of(s, "p99")));
	return sets.every((s) => of(s, "min") >= 0) && top > 0 ? 1.15 * top : null;
}

/* "GPU time" stays as it is. */
function lower(title) {
	return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}

/* The frame that a trend was clicked at, in the chart of the run. */
function openFrame(d, frame) {
	go({ pass: -1, frame, compare: false }, { y: 0, focus: "#frame" });
}

/* Fixed counts that are zero throughout, and metrics that nothing was derived for, say nothing. */
function isShown(sides, info, s) {
	if (s === 0 || (s >= 8 && !info.metric)) return true;
	const of = (which) =>
		sides.map((side) => stat(side.group, seriesIn(side.log, info.key), which));
	return s < 8
		? Math.max(...of("max").map((v) => v || 0)) > 0
		: of("n").some(Number.isFinite);
}

function validity(side, info, own) {
	if (!Number.isFinite(stat(side.group, own, "n")))
		return whyAbsent(side.log, side.d, side.group, own);
	const words = doubts(side.group, own, "p");
	return [info.metric ? "derived" : words.length ? null : "measured", ...words]
		.filter(Boolean)
		.join("; ");
}

function changeCell(sides, side, info) {
	if (sides.length < 2) return null;
	if (side.name !== "B") return el("td");
	const at = (name) => sides.find((x) => x.name === name);
	const mean = (name) => stat(at(name).group, seriesIn(at(name).log, info.key), "mean");
	const change = mean("B") - mean("A"),
		words = (v) => withUnit(v, info.unit),
		verdict = verdictOf(at("A").d.device, passKey(at("A").group), info.key);
	return el(
		"td",
		{
			class: judged(verdict, info.unit),
			title: verdict ? verdictText(verdict, words) : null,
		},
		verdict ? changeWords(verdict, words) : signedPercent((100 * change) / mean("A")),
	);
}

function valueRow(sides, side, info, s, pick) {
	const own = seriesIn(side.log, info.key),
		known = Number.isFinite(stat(side.group, own, "n"));
	const cells = ["mean", "sd", "min", "p50", "p90", "p99", "max"].map((which) =>
		valueCell(side.log, side.d, side.group, own, which, info.unit),
	);
	const tr = el(
		"tr",
		{
			"data-key": info.key,
			class: s === state.series ? "picked" : known ? null : "plain",
			"aria-current": s === state.series ? "true" : null,
			"data-place": `value-${info.key}-${side.name}`,
		},
		el(
			"td",
			{ title: info.text },
			sides.length > 1 ? swatch(side.color) : null,
			seriesTitle(info) + (sides.length > 1 ? ` (${side.name})` : ""),
		),
		el("td", {}, plain(stat(side.group, own, "n") || 0)),
		...cells,
		changeCell(sides, side, info),
		el("td", { class: "word" }, validity(side, info, own)),
		el(
			"td",
			{ class: "word dim" },
			[info.key, FIXED[info.key], info.name, info.source, info.scope]
				.filter(Boolean)
				.join(" · "),
		),
	);
	return known ? openable(tr, () => pick(s)) : tr;
}

function valuesTable(sides, pick) {
	const two = sides.length > 1,
		ordered = sides.slice().sort((x, y) => (x.name < y.name ? -1 : 1)),
		body = el("tbody");
	sides[0].log.series.forEach((info, s) => {
		if (isShown(sides, info, s))
			body.append(
				...ordered.map((side) => valueRow(ordered, side, info, s, pick)),
			);
	});
	const heads = [
		"value",
		"N",
		"mean",
		"sd",
		"min",
		"p50",
		"p90",
		"p99",
		"max",
		...(two ? ["change"] : []),
		"validity",
		"what it is",
	];
	return el(
		"div",
		{ class: "wide" },
		el(
			"table",
			{ id: "values", "aria-label": "Values of the pass" },
			el(
				"thead",
				{},
				el(
					"tr",
					{},
					...heads.map((h, i) =>
						el(
							"th",
							{
								scope: "col",
								class:
									i >= heads.length - 2
										? "word"
										: null,
							},
							h,
						),
					),
				),
			),
			body,
		),
	);
}

/* What it draws to, and what of that is loaded and stored. */
function targetFacts({ target: t }) {
	if (!t) return [];
	const formats = (t.formats || "").split(" ").filter(Boolean);
	return [
		[
			"Target",
			`${t.width} x ${t.height}` +
				(t.layers > 1 ? `, ${t.layers} layers` : "") +
				(t.samples > 1 ? `, ${t.samples} samples` : "") +
				(formats.length ? `, ${formats.join(" + ")}` : ""),
		],
		["Load", t.load, "what its attachments hold before it"],
		["Store", t.store, "what of its attachments is kept"],
	];
}

async function showPass(log, d, group) {
	const sides = sidesOf(log, d, group);
	const box = el("div", { class: "two", id: "series" });
	const info = log.series[state.series] || log.series[0];
	const other =
		meta.logs.length < 2
			? null
			: sides.length > 1
				? `the same pass is in ${sides[1].name}`
				: `this pass is not in ${"AB"[1 - state.log]}`;
	main.replaceChildren(
		el(
			"div",
			{ class: "row" },
			el(
				"button",
				{
					type: "button",
					id: "back",
					title: "Esc",
					onclick: closePass,
				},
				"← all passes",
			),
		),
		el(
			"h2",
			{ id: "heading", tabindex: -1 },
			group.outside ? "" : swatch(colour(state.pass)),
			group.name,
		),
		facts([
			["Over the run", group.over_run, "the changes of speed and hitches that it explains"],
			["Cost", group.why, "what was counted, and what would make it cheaper: docs/verdicts.md"],
			...targetFacts(group),
			["Debug groups inside", group.groups],
			["Queue", group.queue],
			[
				"Seen in",
				`${plain(group.frames)} of ${plain(d.frames + d.partial_frames)} frames`,
			],
			[
				"Share",
				group.share === undefined
					? null
					: `${percent(group.share)} of all measured GPU time`,
			],
			[
				"Identity",
				group.outside ? "measured work that lies in no pass" : group.id,
			],
			["Kind", group.outside ? null : group.kind],
			["Flags", group.flags.join(", ") || "none"],
			["Other log", other],
		]),
		pictureFigures(sides) || "",
		box,
		el("h2", {}, "Values"),
		el("p", { class: "dim" }, "Choose a row to draw it."),
		valuesTable(sides, (s) => go({ series: s })),
		pipelineSection(log, d, group) || "",
		readingSection(),
	);
	await drawSeries(box, sides, info);
}
