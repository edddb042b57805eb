/* The views: the run, a pass, two logs side by side. State is in the address, so that back works. */
const problems = [];
addEventListener("error", (e) => problems.push(String(e.message)));
addEventListener("unhandledrejection", (e) => problems.push(String(e.reason)));
const main = document.getElementById("main");
const state = {
	log: 0,
	device: 0,
	row: 0,
	sort: "total",
	down: true,
	filter: "",
	pass: -1,
	series: 0,
	compare: meta.logs.length > 1,
	all: false,
	cut: false,
	by: "gpu_ns",
};
/* makeFrames(): draws the chart of frames once it has a place. Tickets tell what was overtaken. */
const view = { frames: null, legend: null, makeFrames: null, drawn: 0, ticket: 0 };

function shownDevice(log) {
	const top = log.devices.findIndex((d) => d.beneath === undefined && d.rows > 0);
	return Math.max(0, top);
}

function current() {
	const log = meta.logs[state.log];
	return { log, d: log.devices[state.device] };
}

async function showRun(ticket) {
	const { log, d } = current();
	if (!d) {
		main.replaceChildren(
			runCard(log),
			el("p", {}, "The log has no device and no frame."),
			notesSection(log),
		);
		return;
	}
	const parts = [
		el(
			"div",
			{ class: "facts" },
			runCard(log),
			deviceCard(d),
			d.rows ? costCard(d) : null,
		),
		moreFacts(log, d),
	];
	if (!d.rows) {
		main.replaceChildren(
			...parts,
			el("p", {}, "No frame of this device is in the log."),
			notesSection(log),
		);
		return;
	}
	await readFrames(d);
	if (ticket !== view.ticket) return;
	state.row = Math.min(state.row, d.rows - 1);
	parts.push(
		frameChart(log, d),
		el(
			"section",
			{},
			el("h2", {}, "One frame"),
			framePicker(d),
			el("div", { id: "frame-bars" }),
		),
		passTable(log, d),
		notesSection(log),
		readingSection(),
	);
	main.replaceChildren(...parts);
	view.makeFrames();
	await showFrame();
}

async function render() {
	const ticket = ++view.ticket,
		{ log, d } = current();
	const programs = meta.logs.map((l) => (l.program || l.file).split("/").pop());
	forget();
	view.frames = null;
	document.getElementById("title").textContent =
		[...new Set(programs)].join(" and ") + (programs.length > 1 ? ", two runs" : "");
	document.title = `passtally: ${document.getElementById("title").textContent}`;
	chooser();
	if (state.pass >= 0 && d && d.groups && d.groups[state.pass])
		await showPass(log, d, d.groups[state.pass]);
	else if (state.compare) await showCompare(ticket);
	else await showRun(ticket);
	window.passtally.renders++;
}

/* Each entry of the chooser: its words, and the state that it stands for. */
function choices() {
	const out = [],
		two = meta.logs.length > 1;
	const words = (d) => `device ${d.device}: ${d.name || "?"}${d.rows ? "" : " (no frames)"}`;
	if (two)
		meta.logs[0].devices.forEach((d, k) => {
			if (d.rows)
				out.push([
					`Both: ${words(d)}`,
					{ compare: true, log: 0, device: k },
				]);
		});
	meta.logs.forEach((l, i) =>
		l.devices.forEach((d, k) =>
			out.push([
				`${two ? `Only ${"AB"[i]}: ` : ""}${words(d)}`,
				{ compare: false, log: i, device: k },
			]),
		),
	);
	return out;
}

function chooser() {
	const all = choices(),
		box = document.getElementById("choose");
	const shown = (c) =>
		c.compare === state.compare && c.device === state.device && c.log === state.log;
	const found = all.findIndex(([, c]) => shown(c));
	if (all.length < 2) {
		box.replaceChildren();
		return;
	}
	box.replaceChildren(
		el(
			"select",
			{
				id: "which",
				"aria-label": "log and device",
				onchange: (e) =>
					go({ ...all[Number(e.target.value)][1], pass: -1, row: 0 }),
			},
			...all.map(([words], i) =>
				el("option", { value: i, selected: i === found }, words),
			),
		),
	);
}

/* The address: #compare=1&log=0&device=0&pass=3&series=0 */
function go(change) {
	Object.assign(state, change);
	const { compare, log, device, pass, series } = state;
	const next = `#compare=${Number(compare)}&log=${log}&device=${device}&pass=${pass}&series=${series}`;
	if (location.hash === next) render();
	else location.hash = next;
}

function fromAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	const number = (name, most) => {
		const v = Number(words.get(name));
		return words.has(name) && Number.isInteger(v) && v >= -1 && v < most ? v : null;
	};
	state.log = Math.max(0, number("log", meta.logs.length) ?? 0);
	const log = meta.logs[state.log];
	state.device = Math.max(0, number("device", log.devices.length) ?? shownDevice(log));
	state.pass = number("pass", 1e9) ?? -1;
	state.series = Math.max(0, number("series", 1e9) ?? 0);
	state.compare = meta.logs.length > 1 && words.get("compare") !== "0";
}

function openPass(place, series) {
	go({ pass: place, series: series ?? 0 });
	scrollTo(0, 0);
}

function setTheme(name) {
	document.documentElement.dataset.theme = name;
}

function keys(e) {
	const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName);
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	if (e.key === "Escape") {
		if (typing) e.target.blur();
		else if (state.pass >= 0) go({ pass: -1 });
		return;
	}
	if (typing) return;
	const { d } = current();
	const actions = {
		t: () => document.getElementById("theme").click(),
		"?": () => document.getElementById("keys").click(),
		"/": () => document.getElementById("filter")?.focus(),
		z: wholeRun,
	};
	if (view.frames)
		Object.assign(actions, {
			p: () => cutTops(!state.cut),
			ArrowLeft: () => pickFrame(state.row - 1),
			ArrowRight: () => pickFrame(state.row + 1),
			Home: () => pickFrame(0),
			End: () => pickFrame(d.rows - 1),
			s: () => pickFrame(slowest(d, "cpu")),
		});
	if (actions[e.key]) {
		e.preventDefault();
		actions[e.key]();
	}
}

function begin() {
	window.passtally = { meta, state, view, charts, problems, column, passesOf, renders: 0 };
	setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	document.getElementById("made").textContent =
		`Made by passtally ${meta.version} report --html` +
		(meta.warmup ? ` --warmup ${meta.warmup}` : "") +
		". This page fetches nothing.";
	document.getElementById("theme").addEventListener("click", () => {
		const zoom = view.frames && view.frames.xAxisRange();
		setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
		render().then(() => {
			if (zoom && view.frames) view.frames.updateOptions({ dateWindow: zoom });
		});
	});
	document.getElementById("keys").addEventListener("click", (e) => {
		const list = document.getElementById("key-list");
		list.hidden = !list.hidden;
		e.target.setAttribute("aria-expanded", String(!list.hidden));
	});
	addEventListener("keydown", keys);
	addEventListener("hashchange", () => {
		fromAddress();
		render();
	});
	if (typeof DecompressionStream === "undefined") {
		main.replaceChildren(
			el(
				"p",
				{ class: "bad" },
				"This browser is too old: it has no DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).",
			),
		);
		return;
	}
	fromAddress();
	render();
}
