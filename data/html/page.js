/* SPDX-License-Identifier: MIT */
/* The views: the run, a pass, two logs side by side; the keys; the theme. */
const problems = [];
addEventListener("error", (e) => problems.push(String(e.message)));
addEventListener("unhandledrejection", (e) => problems.push(String(e.reason)));
const main = document.getElementById("main");
async function showRun(ticket) {
	const { log, d } = current();
	if (!d || !d.rows) {
		main.replaceChildren(
			el("p", {}, d ? emptyWords(d) : "The log has no device and no frame."),
			aboutSection(log, d, true),
			notesSection(log),
		);
		return;
	}
	await readFrames(d);
	if (ticket !== view.ticket) return;
	state.row = rowOfFrame(d, state.frame);
	const overview = answerOf(log, d)
		? el("div", { class: "overview" }, frameChart(log, d), hitchSection(log, d))
		: "";
	const stack = overview ? await stackSection(d) : null;
	if (ticket !== view.ticket) return;
	main.replaceChildren(
		answerSection(log, d),
		typicalSection(log, d) || "",
		overview,
		stack || "",
		filmStrip(d) || "",
		frameSection(d),
		passTable(log, d),
		pipelineSection(log, d, null) || "",
		notesSection(log),
		aboutSection(log, d, false),
		readingSection(),
	);
	if (overview) view.makeFrames();
	if (stack) view.makeStack();
	await showFrame();
}

/* `place`: where to be afterwards; without it, where one is. */
async function render(place) {
	const ticket = ++view.ticket,
		to = place || placeNow(),
		{ log, d } = current();
	const programs = [...new Set(meta.logs.map(programName))];
	forget();
	view.frames = view.stack = null;
	const group = state.pass >= 0 && d && d.groups && d.groups[state.pass];
	document.getElementById("title").textContent =
		programs.join(" and ") + (meta.logs.length > 1 ? ", two runs" : "");
	document.getElementById("subtitle").textContent = meta.logs.map(logWords).join(" and ");
	document.title = [
		group && group.name,
		programs.join(" and "),
		meta.logs.map((l) => l.file).join(" and "),
		"passtally",
	]
		.filter(Boolean)
		.join(" - ");
	chooser();
	if (group) await showPass(log, d, group);
	else if (state.compare) await showCompare(ticket);
	else await showRun(ticket);
	if (ticket === view.ticket) restorePlace(to);
	window.passtally.renders++;
}

/* Each entry of the chooser: its words, and the state that it stands for. */
function choices() {
	const out = [],
		two = meta.logs.length > 1;
	const words = (d) =>
		[
			`device ${d.device}: ${d.name || "?"}`,
			d.rows
				? `${plain(d.frames)} ${d.frames === 1 ? "frame" : "frames"}`
				: "no frames",
			d.groups && d.groups.length ? d.groups[0].name : null,
		]
			.filter(Boolean)
			.join(", ");
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
					go({
						...all[Number(e.target.value)][1],
						...WHOLE_RUN,
						pass: -1,
					}),
			},
			...all.map(([words], i) =>
				el("option", { value: i, selected: i === found }, words),
			),
		),
	);
}

function setTheme(name) {
	document.documentElement.dataset.theme = name;
}

function keys(e) {
	const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName);
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	if (e.key === "Escape") {
		if (typing) e.target.blur();
		else if (state.pass >= 0) closePass();
		return;
	}
	if (typing || !state.letters) return;
	const { d } = current();
	const actions = {
		t: () => document.getElementById("theme").click(),
		"?": () => document.getElementById("keys").click(),
		"/": () => document.getElementById("filter")?.focus(),
		z: wholeRun,
		p: () => cutTops(!state.cut),
	};
	/* Where one can scroll sideways, arrows do that. */
	const scrolls = e.target.closest && e.target.closest(".scrolls");
	if (scrolls && e.key.startsWith("Arrow")) return;
	if (view.frames)
		Object.assign(actions, {
			"+": () => zoomRun(0.5),
			"-": () => zoomRun(2),
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
	window.passtally = { meta, state, view, charts, problems, series, passesOf, renders: 0 };
	const dark = matchMedia("(prefers-color-scheme: dark)");
	setTheme(dark.matches ? "dark" : "light");
	history.scrollRestoration = "manual";
	document.getElementById("made").textContent =
		`Made by passtally ${meta.version} report --html` +
		(meta.warmup ? ` --warmup ${meta.warmup}` : "") +
		". It asks no other host for anything.";
	document.getElementById("theme").addEventListener("click", () => {
		view.themed = true;
		setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
		render();
	});
	dark.addEventListener("change", () => {
		if (view.themed) return;
		setTheme(dark.matches ? "dark" : "light");
		render();
	});
	document.getElementById("letters").addEventListener("change", (e) => {
		state.letters = e.target.checked;
	});
	document.getElementById("link").addEventListener("click", copyLink);
	document.getElementById("keys").addEventListener("click", (e) => {
		const list = document.getElementById("key-list");
		list.hidden = !list.hidden;
		e.target.setAttribute("aria-expanded", String(!list.hidden));
	});
	addEventListener("keydown", keys);
	addEventListener("hashchange", returned);
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
