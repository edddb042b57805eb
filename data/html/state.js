/* SPDX-License-Identifier: MIT */
/* What is shown, and its address: #compare=0&log=1&device=0&pass=3&series=0&frame=50&from=10&to=90.
 * Only what is not as at first is written, so that #frame=50 alone works, too. */
const state = {
	log: 0,
	device: 0,
	row: 0,
	frame: null /* the number of the frame that was picked; null: the median one */,
	from: null /* the part of the run in the chart; null: all of it */,
	to: null,
	scale: 1 /* of the one frame, and which part of it */,
	at: 0,
	sort: "share",
	down: true,
	filter: "",
	pass: -1,
	series: 0,
	compare: meta.logs.length > 1,
	all: false,
	cut: true,
	by: "gpu_ns",
	letters: true,
};
/* makeFrames(): draws the chart of frames once it is in the document. Tickets show what was
 * overtaken. */
const view = { frames: null, stack: null, makeStack: null, legend: null, makeFrames: null, ticket: 0, address: 0 };
const WHOLE_RUN = { frame: null, from: null, to: null, scale: 1, at: 0, row: 0 };

function shownDevice(log) {
	const top = log.devices.findIndex((d) => d.shown && d.rows > 0);
	return Math.max(0, top);
}

function current() {
	const log = meta.logs[state.log];
	return { log, d: log.devices[state.device] };
}

function address() {
	const words = [];
	const add = (name, value, first) => value !== first && words.push(`${name}=${value}`);
	if (meta.logs.length > 1) add("compare", Number(state.compare), 1);
	add("log", state.log, 0);
	add("device", state.device, shownDevice(meta.logs[state.log]));
	add("pass", state.pass, -1);
	if (state.pass >= 0) add("series", state.series, 0);
	add("frame", state.frame, null);
	add("from", state.from, null);
	add("to", state.to, null);
	add("scale", state.scale, 1);
	if (state.scale !== 1) add("at", Number(state.at.toFixed(4)), 0);
	return `#${words.join("&")}`;
}

function fromAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	const real = (name) => {
		const v = Number(words.get(name));
		return words.get(name) && Number.isFinite(v) ? v : null;
	};
	const number = (name, most) => {
		const v = real(name);
		return Number.isInteger(v) && v >= -1 && v < most ? v : null;
	};
	state.log = Math.max(0, number("log", meta.logs.length) ?? 0);
	const log = meta.logs[state.log];
	state.device = Math.max(0, number("device", log.devices.length) ?? shownDevice(log));
	state.pass = number("pass", 1e9) ?? -1;
	state.series = Math.max(0, number("series", 1e9) ?? 0);
	state.frame = number("frame", Infinity);
	state.from = real("from");
	state.to = real("to");
	if (state.from === null || state.to === null || state.from >= state.to)
		state.from = state.to = null;
	state.scale = Math.min(64, Math.max(1, real("scale") ?? 1));
	state.at = Math.min(1, Math.max(0, real("at") ?? 0));
	const one = words.has("frame") && !words.has("compare");
	state.compare = meta.logs.length > 1 && words.get("compare") !== "0" && !one;
}

/* A selector that finds the element again after it was drawn once more. */
function placeOf(e) {
	if (!e || e === document.body) return null;
	if (e.id) return `#${CSS.escape(e.id)}`;
	return e.dataset.place ? `[data-place="${CSS.escape(e.dataset.place)}"]` : null;
}

function placeNow() {
	const table = document.getElementById("passes");
	return {
		y: scrollY,
		inner: table ? table.parentNode.scrollTop : 0,
		focus: placeOf(document.activeElement),
	};
}

function restorePlace({ y, inner, focus }) {
	const table = document.getElementById("passes"),
		e = focus && document.querySelector(focus);
	if (e && e !== document.activeElement) e.focus({ preventScroll: true });
	if (table && inner) table.parentNode.scrollTop = inner;
	scrollTo(0, y || 0);
}

/* Each step is an entry of the browser's history, with the place to which back returns. */
function go(change, place) {
	history.replaceState({ ...history.state, place: placeNow() }, "");
	Object.assign(state, change);
	const next = address();
	if (next !== (location.hash || "#")) history.pushState({ came: true }, "", next);
	return render(place || placeNow());
}

/* What is no step of its own, such as the frame that is picked, only changes the address. */
function noteAddress() {
	clearTimeout(view.address);
	view.address = setTimeout(() => history.replaceState(history.state, "", address()), 150);
}

function openPass(place, series) {
	return go({ pass: place, series: series ?? 0 }, { y: 0, focus: "#heading" });
}

function closePass() {
	if (history.state && history.state.came) history.back();
	else go({ pass: -1 }, { y: 0 });
}

function returned() {
	clearTimeout(view.address);
	fromAddress();
	render((history.state && history.state.place) || { y: 0 });
}
