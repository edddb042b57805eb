/* The page of one pass: each counter and metric with its distribution and its trend. With two logs, both. */
function sidesOf(log, d, group) {
	const sides = [{ name: meta.logs.length > 1 ? "AB"[state.log] : "this run", log, d, group }];
	if (meta.logs.length < 2)
		return sides;
	const other = meta.logs[1 - state.log], od = other.devices.find((x) => x.device === d.device && x.groups) ||
		other.devices[shownDevice(other)];
	const twin = od && od.groups && od.groups.find((g) => (group.outside ? g.outside : g.id === group.id));
	if (twin)
		sides.push({ name: "AB"[1 - state.log], log: other, d: od, group: twin });
	return sides;
}

/* The same key may have another place in another log. */
function seriesIn(log, key) {
	return log.series.findIndex((s) => s.key === key);
}

async function valuesOf(side, key) {
	const s = statsOf(side.group, seriesIn(side.log, key));
	return s ? column(s.column) : null;
}

function blockOf(side, key) {
	return key === "gpu_ns" ? side.d.gpu_block : side.d.block;
}

async function drawSeries(box, sides, key, unit) {
	const sets = [];
	for (const side of sides) {
		const col = await valuesOf(side, key);
		if (!col)
			continue;
		await readFrames(side.d);
		sets.push({ name: side.name, side, col, block: blockOf(side, key), values: col.values });
	}
	if (!sets.length) {
		box.replaceChildren(el("p", { class: "dim" }, "No values."));
		return;
	}
	/* By place in the run: two runs need not have the same frame numbers. */
	const rows = Math.max(...sets.map((s) => Math.ceil(s.side.d.rows / s.block)));
	const first = sets[0], data = [];
	const lines = sets.map((s) => dense(s.col, rows));
	for (let i = 0; i < rows; i++) {
		const x = first.side.d.read.frame[Math.min(i * first.block, first.side.d.rows - 1)];
		const y = lines.map((l) => Number.isNaN(l[i]) ? null : l[i]);
		if (!data.length || i * first.block < first.side.d.rows)
			data.push([x, ...y]);
	}
	const labels = ["frame", ...sets.map((s) => s.name)], colors = [theme("gpu"), theme("cpu")];
	const holder = el("div", { class: "chart small" }), legend = el("span", { class: "legend" });
	const words = sets.filter((s) => s.block > 1).map((s) => `${s.name}: each point is the mean of ${s.block} frames, to keep the page small`);
	if (sets.some((s) => s.col.wide))
		words.push("values over 2⁵³ are drawn rounded");
	const spread = sets.some((s) => s.block > 1)
		? el("p", { class: "dim" }, "The values themselves are not in the page; see the quantiles in the table.") : histogram(sets, unit);
	box.replaceChildren(el("div", {}, el("h3", {}, `Trend of ${key}`), el("div", { class: "row" }, legend), holder,
		el("p", { class: "dim" }, words.join(". "))), el("div", {}, el("h3", {}, `Distribution of ${key}`), spread));
	lineChart(holder, legend, data, { labels, colors, rest: rests(labels, colors), format: (v) => withUnit(v, unit),
		axis: (v) => withUnit(v, unit) });
}

function seriesRows(sides, pick) {
	const body = el("tbody");
	const [one] = sides;
	one.log.series.forEach((info, s) => {
		const used = sides.some((side) => Number.isFinite(stat(side.group, seriesIn(side.log, info.key), "n")));
		const most = Math.max(...sides.map((side) => stat(side.group, seriesIn(side.log, info.key), "max") || 0));
		if (s > 0 && (s < 8 ? most === 0 : !used && info.metric))
			return;
		for (const side of sides) {
			const own = seriesIn(side.log, info.key);
			const cells = ["n", "mean", "sd", "min", "p50", "p90", "p99", "max"].map((which) => which === "n"
				? el("td", {}, String(stat(side.group, own, "n") || 0))
				: valueCell(side.log, side.d, side.group, own, which, info.unit));
			const known = Number.isFinite(stat(side.group, own, "n"));
			const why = known ? (stat(side.group, own, "bits") & 1 ? "estimate" : stat(side.group, own, "n") < side.group.frames ? "in part" : "measured")
				: whyAbsent(side.log, side.d, side.group, own);
			const tr = el("tr", { "data-key": info.key, class: known ? null : "plain" },
				el("td", { title: info.text }, info.key + (sides.length > 1 ? ` (${side.name})` : "")), ...cells,
				el("td", { class: "word" }, info.metric && known ? "derived" : why),
				el("td", { class: "word dim" }, [info.name, info.source, info.scope].filter(Boolean).join(" · ")));
			body.append(known ? openable(tr, () => pick(s)) : tr);
		}
	});
	return body;
}

async function showPass(log, d, group) {
	const sides = sidesOf(log, d, group);
	const box = el("div", { class: "two", id: "series" });
	const info = log.series[state.series] || log.series[0];
	const pick = (s) => { go({ series: s }); };
	const heads = ["value", "N", "mean", "sd", "min", "p50", "p90", "p99", "max", "validity", "what it is"];
	main.replaceChildren(el("div", { class: "row" }, el("button", { type: "button", id: "back", title: "Esc", onclick: () => go({ pass: -1 }) }, "← all passes")),
		el("h2", {}, group.outside ? "" : swatch(colour(state.pass)), group.name),
		facts([["Identity", group.outside ? "measured work that lies in no pass" : group.id], ["Kind", group.outside ? null : group.kind],
			["Queue", group.queue], ["Seen in", `${plain(group.frames)} frames`],
			["Share", group.share === undefined ? null : `${percent(group.share)} of all measured GPU time`],
			["Flags", group.flags.join(", ") || "none"],
			["Other log", meta.logs.length > 1 ? (sides.length > 1 ? `the same pass in ${sides[1].name}` : "not there") : null]]),
		box, el("h2", {}, "Values"), el("p", { class: "dim" }, "Choose a row to draw it."),
		el("div", { class: "wide" }, el("table", { id: "values" }, el("thead", {}, el("tr", {}, ...heads.map((h, i) => el("th", { scope: "col", class: i > 8 ? "word" : null }, h)))),
			seriesRows(sides, pick))), readingSection());
	await drawSeries(box, sides, info.key, info.unit);
}
