/* SPDX-License-Identifier: MIT */
/* Numbers as words, and elements. Whatever a log says goes in as text, never as markup. */
function el(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {})) {
		if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
		else if (value !== undefined && value !== null && value !== false)
			e.setAttribute(key, value === true ? "" : value);
	}
	e.append(...children.filter((c) => c !== null && c !== undefined));
	return e;
}

function svg(name, attributes, ...children) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	e.append(...children);
	return e;
}

function trim(v, digits) {
	return v
		.toPrecision(digits)
		.replace(/(\.\d*?)0+$/, "$1")
		.replace(/\.$/, "");
}

function countOfPasses(n) {
	return `${n} ${n === 1 ? "pass" : "passes"}`;
}

const UNITS = [
	["s", 1e9],
	["ms", 1e6],
	["us", 1e3],
	["ns", 1],
];

/* Four digits, so that numbers below each other are as long as each other. */
function duration(ns) {
	const [unit, size] = UNITS.find(([, least]) => Math.abs(ns) >= least) || UNITS[3];
	const v = ns / size;
	const whole = (unit === "ns" && Number.isInteger(v)) || Math.abs(v) >= 1e4;
	return `${whole ? Math.round(v) : v.toPrecision(4)} ${unit}`;
}

/* The unit for a column of times of which `typical` is the largest. */
function unitFor(typical) {
	return typical >= 1e6 ? UNITS[1] : UNITS[2];
}

/* Without its unit, which the column's head says: three places behind the point. */
function inUnit(ns, [, size]) {
	const v = ns / size;
	return v !== 0 && Math.abs(v) < 0.0005 ? "< 0.001" : v.toFixed(3);
}

function plain(v) {
	if (Math.abs(v) >= 1e15) return v.toExponential(4);
	if (Math.abs(v) >= 1e3 || Number.isInteger(v))
		return Math.round(v).toLocaleString("en").replace(/,/g, "\u202f");
	return trim(v, 4);
}

function withUnit(v, unit) {
	if (!Number.isFinite(v)) return "-";
	if (unit === "ns") return duration(v);
	if (unit === "percent" || unit === "%") return `${trim(v, 4)} %`;
	return unit && unit !== "1" ? `${plain(v)} ${unit}` : plain(v);
}

/* On an axis. */
function brief(v, unit) {
	return withUnit(v, unit)
		.replace(/(\.\d*?)0+(?= |$)/, "$1")
		.replace(/\.(?= |$)/, "");
}

function percent(v) {
	return v === undefined || v === null ? "-" : `${(100 * v).toFixed(1)} %`;
}

/* Each value of a pass by its series, as in `report --json`, with its column. */
for (const log of meta.logs)
	for (const d of log.devices)
		for (const g of d.groups || []) {
			g.by = new Map();
			for (const [s, column] of g.series)
				g.by.set(s, { column, ...g.values[log.series[s].key] });
		}

function statsOf(group, series) {
	return group.by.get(series);
}

function stat(group, series, which) {
	return (group && statsOf(group, series)?.[which]) ?? NaN;
}

function isEstimate(group, series) {
	return Boolean(group && statsOf(group, series)?.estimated);
}

/* Why a pass has no value of a series. */
function whyAbsent(log, device, group, series) {
	if (!group) return "this pass is not in that log";
	const meaning = log.series[series] || {};
	const source = meaning.source || (series === 0 ? "timestamp" : null);
	const off = device.sources_off.find((text) => source && text.split(":")[0].includes(source));
	if (off) return `source off: ${off}`;
	const telling = [
		"no_timestamps",
		"dropped",
		"lost",
		"incomplete",
		"disjoint",
		"bad_time",
		"yielded",
		"saturated",
		"simultaneous",
		"unsampled",
		"disturbed",
	].filter((f) => group.flags.includes(f));
	if (telling.length) return `not measured; flags of this pass: ${telling.join(", ")}`;
	if (meaning.metric)
		return "not derived: a counter it needs was not there, or the pass ran in several segments";
	return "not measured for this pass";
}

/* What a value is worth, in words; empty: measured, in all frames of its pass. */
function doubts(group, series, which) {
	const n = stat(group, series, "n"),
		out = [];
	if (isEstimate(group, series)) out.push("an estimate, not a measurement");
	if (n < group.frames) out.push(`known in ${n} of ${group.frames} frames`);
	if (which.startsWith("p") && statsOf(group, series)?.quantiles_exact === false) out.push("true to 0.1 %");
	return out;
}

/* `show(v)`: the value in words, where these are not those of its unit. */
function valueCell(log, device, group, series, which, unit, show) {
	const v = stat(group, series, which);
	if (!Number.isFinite(v)) {
		const one = which === "sd" && stat(group, series, "n") === 1;
		return el(
			"td",
			{
				title: one
					? "one value has no deviation"
					: whyAbsent(log, device, group, series),
			},
			"-",
		);
	}
	const hints = doubts(group, series, which);
	if (show) hints.unshift(unit === "ns" ? `${trim(v, 12)} ns` : withUnit(v, unit));
	return el(
		"td",
		{ title: hints.join("; ") || null },
		(isEstimate(group, series) ? "~" : "") + (show ? show(v) : withUnit(v, unit)),
	);
}

/* What the first series of every log are; others say it themselves. */
const FIXED = {
	gpu_ns: "GPU time of the pass",
	draws: "draw calls",
	vertices: "vertices in the draw calls",
	instances: "instances drawn",
	dispatches: "compute dispatches",
	copies: "copies",
	clears: "clears",
	calls: "calls of the API",
};

/* A series in a heading. */
function seriesTitle(info) {
	if (info.key === "gpu_ns") return "GPU time";
	const words = info.name && info.name !== info.key ? info.name : FIXED[info.key];
	const title = words || info.key.replace(/_/g, " ");
	return title.charAt(0).toUpperCase() + title.slice(1);
}

/* The program as its user called it: of `python3 ./game.py` that is game.py. */
const INTERPRETERS = /^(python|perl|ruby|node|lua|luajit|sh|bash|dash|wine|mono|java)[-.\d]*$/;

function programName(log) {
	const base = (path) => (path || "").split("/").pop();
	const [called, first] = log.argv || [];
	const name = base(called) || base(log.program) || log.file;
	if (INTERPRETERS.test(name) && first && !first.startsWith("-")) return base(first);
	return name;
}

function colour(place) {
	const dark = document.documentElement.dataset.theme === "dark";
	return `hsl(${(place * 137.5 + 25) % 360} ${dark ? "60% 66%" : "68% 68%"})`;
}

function theme(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function swatch(fill) {
	const s = el("span", { class: "swatch" });
	s.style.background = fill;
	return s;
}
