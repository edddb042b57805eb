/* SPDX-License-Identifier: MIT */
/* What draws and dispatches (--pipelines): of the run, or in one pass. The rows of `report --by pipeline`. */
const PIPELINE_VALUES = [
	["gpu_ns", "GPU time"],
	["draws", "draws"],
	["dispatches", "dispatches"],
	["vertices", "vertices"],
	["compiled_instructions", "instructions"],
	["compiled_spills", "spills"],
];
const MOST_PIPELINES = 50;

function pipelineRow(d, row, values) {
	const passes = d.groups.flatMap((g, place) => (row.passes.includes(g.id) ? [place] : []));
	const link = (place) =>
		el(
			"button",
			{ type: "button", class: "open", "data-place": `pipeline-${row.id}-${place}`, onclick: () => openPass(place) },
			swatch(colour(place)),
			d.groups[place].name,
		);
	const more = passes.length > 2 ? ` and ${plain(passes.length - 2)} more` : null;
	return el(
		"tr",
		{ class: "plain" },
		el("td", { class: "name", title: `${row.name}\nid ${row.id}` }, row.name),
		...values.map(([key]) => {
			const v = row.values[key];
			if (!v) return el("td", { title: key === "gpu_ns" ? "other pipelines share its passes; --granularity draw tells them apart" : "the driver did not say" }, "-");
			return el("td", {}, withUnit(v.mean, v.unit));
		}),
		el("td", { class: "word" }, ...passes.slice(0, 2).flatMap((p, i) => (i ? [", ", link(p)] : [link(p)])), more),
	);
}

/* `group`: null for all passes. Null: there are none. */
function pipelineSection(log, d, group) {
	const all = (log.pipelines || []).filter(
		(r) => r.device === d.device && (!group || r.passes.includes(group.id)),
	);
	if (!all.length) return null;
	const values = PIPELINE_VALUES.filter(([key]) => all.some((r) => r.values[key]?.max > 0));
	const size = (r, key) => r.values[key]?.sum ?? 0;
	const work = (r) => size(r, "draws") + size(r, "dispatches");
	all.sort((a, b) => size(b, "gpu_ns") - size(a, "gpu_ns") || work(b) - work(a));
	const heads = ["pipeline", ...values.map(([, title]) => title), group ? "all its passes" : "passes"];
	const left = all.length - MOST_PIPELINES;
	return el(
		"section",
		{ id: "pipelines" },
		el("h2", {}, group ? "Its pipelines" : "Pipelines"),
		el(
			"p",
			{ class: "dim" },
			`Means a frame${group ? ", over all its passes" : ""}.` +
				(left > 0 ? ` ${plain(left)} more: passtally report --by pipeline.` : ""),
		),
		el(
			"div",
			{ class: "wide" },
			el(
				"table",
				{ "aria-label": "Pipelines" },
				el("thead", {}, el("tr", {}, ...heads.map((h, i) =>
					el("th", { scope: "col", class: i === heads.length - 1 ? "word" : null }, h)))),
				el("tbody", {}, ...all.slice(0, MOST_PIPELINES).map((r) => pipelineRow(d, r, values))),
			),
		),
	);
}
