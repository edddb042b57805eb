/* The views: the run, a pass, two logs side by side. State is in the address, so that back works. */
const problems = [];
addEventListener("error", (e) => problems.push(String(e.message)));
addEventListener("unhandledrejection", (e) => problems.push(String(e.reason)));
const main = document.getElementById("main");
const state = { log: 0, device: 0, row: 0, sort: "total", down: true, filter: "", pass: -1, series: 0, zoom: null,
	compare: meta.logs.length > 1, all: false };
const view = { frames: null, drawn: 0 };

function shownDevice(log) {
	const top = log.devices.findIndex((d) => d.beneath === undefined && d.rows > 0);
	return Math.max(0, top);
}

function current() {
	const log = meta.logs[state.log];
	return { log, d: log.devices[state.device] };
}

/* Which series a table shows: in use by some pass; few unless all are asked for. */
function usedSeries(log, d) {
	const used = new Set();
	for (const g of d.groups)
		for (const s of g.series)
			if (s[0] > 0 && (s[2 + STAT.min] !== 0 || s[2 + STAT.max] !== 0))
				used.add(s[0]);
	return [...used].sort((a, b) => a - b);
}

/* Facts */

function facts(pairs) {
	const list = el("dl");
	for (const [name, value, title] of pairs)
		if (value !== null && value !== undefined && value !== "")
			list.append(el("dt", {}, name), el("dd", { title }, value));
	return list;
}

function card(title, ...content) {
	return el("section", { class: "card" }, el("h2", {}, title), ...content);
}

function runCard(log) {
	const options = [];
	for (let i = 0; i < log.options.length; i += 2)
		options.push(`${log.options[i]}=${log.options[i + 1]}`);
	const end = log.truncated ? "cut: the last line is not whole, as when a program is killed"
		: log.end ? log.end.reason + (log.end.dropped ? `; ${log.end.dropped} frames dropped` : "") : "the log has no end line";
	return card(`Run ${log.file}`, facts([
		["Program", log.program], ["Arguments", log.argv ? log.argv.slice(1).join(" ") || "none" : "not in the log (--no-argv)"],
		["Started", log.started_ms ? new Date(log.started_ms).toISOString().replace("T", " ").replace(/\..*/, " UTC") : null],
		["Options", options.join(", ") || "default"], ["Captured by", `passtally ${log.version}`], ["End", end]]));
}

function deviceCard(d) {
	return card(`Device ${d.device}`, facts([
		["Name", d.name || "-"], ["API", d.api || "-"], ["Driver", [d.driver, d.driver_version].filter(Boolean).join(" ") || "-"],
		["Beneath", d.beneath === undefined ? null : `device ${d.beneath}: the same work, seen lower down`],
		["Serialised by", d.serialized_by], ["Not measured", d.off.length ? d.off.join("; ") : null]]));
}

function frameWords(s) {
	return s[0] ? `${duration(s[2])} mean, ${duration(s[5])} p50, ${duration(s[7])} p99` : "- (not measured)";
}

function costCard(d) {
	const own = d.overhead[0] && d.cpu[0] ? `${duration(d.overhead[2])} a frame, ${trim(100 * d.overhead[2] / d.cpu[2], 2)} % of it` : "-";
	const left = [d.partial && `${d.partial} cut by the run's end`, d.warmed_up && `${d.warmed_up} warm-up frames left out`,
		d.dropped && `${d.dropped} passes dropped`].filter(Boolean).join(", ");
	return card("Frames", facts([
		["Frames", plain(d.frames) + (left ? ` (${left})` : "")], ["Frame time", frameWords(d.cpu)], ["GPU time", frameWords(d.gpu)],
		["Coverage", d.coverage === undefined ? "- (no GPU time)" : percent(d.coverage), "share of the measured GPU work that lies in passes"],
		["Our own cost", own], ["Flags", d.flags.join(", ") || "none"]]));
}

/* Frames */

function markRows(log, d) {
	const out = [];
	for (const [level, source, message, time] of log.notes) {
		if (time === undefined)
			continue;
		const at = Number(BigInt(time) - BigInt(d.base_ns));
		let row = 0;
		for (let hi = d.rows; row < hi;) {
			const mid = (row + hi) >> 1;
			if (d.read.start[mid] <= at)
				row = mid + 1;
			else
				hi = mid;
		}
		out.push({ row: Math.max(0, row - 1), word: source === "mark" ? message : source || level });
	}
	return out;
}

function frameChart(log, d) {
	const f = d.read, ms = (v) => Number.isNaN(v) ? null : v / 1e6;
	const hasGpu = f.gpu.some((v) => !Number.isNaN(v));
	const labels = ["frame", "frame time"].concat(hasGpu ? ["GPU time"] : []);
	const colors = [theme("cpu"), theme("gpu")];
	const data = Array.from(f.frame, (x, i) => hasGpu ? [x, ms(f.cpu[i]), ms(f.gpu[i])] : [x, ms(f.cpu[i])]);
	const holder = el("div", { class: "chart", id: "frames" }), legend = el("span", { class: "legend" });
	const marks = markRows(log, d);
	const section = el("section", {}, el("h2", {}, "Frames"), el("div", { class: "row" }, legend,
		el("span", { class: "dim" }, "drag: zoom · double click: all · click: that frame"),
		el("button", { type: "button", id: "whole", title: "Whole run (z)", onclick: () => view.frames.resetZoom() }, "Whole run")), holder);
	view.makeFrames = () => {
		view.frames = lineChart(holder, legend, data, { labels, colors, strip: true, rest: rests(labels, colors),
			format: (v) => `${trim(v, 4)} ms`, axis: (v) => `${trim(v, 4)} ms`,
			pick: (x) => pickFrame(f.frame.indexOf(x)),
			under(canvas, area, g) {
				marks.slice(0, 200).forEach((m, i) => upright(canvas, area, g, f.frame[m.row], theme("mark"),
					marks.length < 30 ? m.word.slice(0, 40) : "", i % 4));
				if (state.row < d.rows)
					upright(canvas, area, g, f.frame[state.row], theme("pick"), "", 0);
			} });
	};
	return section;
}

function pickFrame(row) {
	const { d } = current();
	if (row < 0 || row >= d.rows || Number.isNaN(row))
		return;
	state.row = row;
	showFrame();
	if (view.frames)
		view.frames.updateOptions({}, false);
}

function slowest(d, column) {
	let best = 0;
	for (let i = 1; i < d.rows; i++)
		if (d.read[column][i] > d.read[column][best])
			best = i;
	return best;
}

function framePicker(d) {
	const input = el("input", { id: "frame", size: 8, inputmode: "numeric", "aria-label": "frame number",
		onchange: () => {
			const row = d.read.frame.indexOf(Number(input.value));
			input.classList.toggle("bad", row < 0);
			pickFrame(row);
		} });
	const go = (step) => () => pickFrame(state.row + step);
	return el("div", { class: "row" }, el("span", {}, "Frame"), el("button", { type: "button", title: "←", onclick: go(-1) }, "◀"), input,
		el("button", { type: "button", title: "→", onclick: go(1) }, "▶"),
		el("button", { type: "button", title: "s", onclick: () => pickFrame(slowest(d, "cpu")) }, "slowest"),
		el("button", { type: "button", onclick: () => pickFrame(slowest(d, "gpu")) }, "most GPU time"),
		el("span", { id: "frame-facts", class: "dim" }));
}

async function showFrame() {
	const { d } = current(), box = document.getElementById("frame-bars");
	if (!box || !d.rows)
		return;
	const row = state.row, f = d.read, ticket = ++view.drawn;
	document.getElementById("frame").value = String(f.frame[row]);
	const bits = Number.isNaN(f.flags[row]) ? [] : meta.flags.filter((name, i) => BigInt(f.flags[row]) >> BigInt(i) & 1n);
	document.getElementById("frame-facts").textContent = [`frame time ${duration(f.cpu[row])}`,
		`GPU ${Number.isNaN(f.gpu[row]) ? "- (not measured)" : duration(f.gpu[row])}`,
		Number.isNaN(f.envelope[row]) ? null : `first to last ${duration(f.envelope[row])}`,
		`coverage ${Number.isNaN(f.coverage[row]) ? "-" : percent(f.coverage[row])}`,
		f.unattributed[row] > 0 ? `outside passes ${duration(f.unattributed[row])}` : null,
		`our cost ${duration(f.overhead[row])}`, f.dropped[row] ? `${f.dropped[row]} passes dropped` : null,
		bits.length ? `flags ${bits.join(", ")}` : null].filter(Boolean).join(" · ");
	const passes = await passesOf(d, row);
	if (ticket !== view.drawn)
		return;
	if (!passes) {
		box.replaceChildren(el("p", { class: "dim" }, `The page keeps the passes of every ${d.bar_step}th frame, to stay small.`));
		return;
	}
	const unplaced = passes.filter((p) => !Number.isFinite(p.start)).length;
	box.replaceChildren(lanes(d, passes, openPass),
		el("p", { class: "dim" }, `${passes.length} ${passes.length === 1 ? "pass" : "passes"}` + (unplaced ? `, ${unplaced} of them without a place in time` : "")));
}

/* Passes */

const STATS = [["mean", "mean"], ["sd", "sd"], ["min", "min"], ["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["max", "max"],
	["total", "sum"]];

function tableColumns(log, d) {
	const columns = [{ key: "name", title: "pass", of: (g) => g.name }];
	if (new Set(d.groups.map((g) => g.queue)).size > 1)
		columns.push({ key: "queue", title: "queue", of: (g) => g.queue });
	columns.push({ key: "kind", title: "kind", of: (g) => g.outside ? "" : g.kind });
	columns.push({ key: "n", title: "N", of: (g) => stat(g, 0, "n") || 0, hint: "frames in which its GPU time is known" });
	for (const [key, which] of STATS)
		columns.push({ key, title: key === "total" ? "GPU total" : `GPU ${key}`, series: 0, which, unit: "ns", of: (g) => stat(g, 0, which) });
	columns.push({ key: "share", title: "share", of: (g) => g.share });
	const series = usedSeries(log, d);
	for (const s of state.all ? series : series.slice(0, 12)) {
		const info = log.series[s];
		columns.push({ key: info.key, title: info.key, series: s, which: "mean", unit: info.unit, of: (g) => stat(g, s, "mean"),
			hint: `mean a frame. ${info.name || ""} ${info.unit ? `(${info.unit})` : ""} ${info.text || ""}` });
	}
	columns.push({ key: "flags", title: "flags", of: (g) => g.flags.join(" ") });
	return { columns, more: series.length - 12 };
}

function sorted(groups, column) {
	const known = (v) => typeof v === "string" ? v !== "" : Number.isFinite(v);
	return groups.slice().sort((a, b) => {
		const x = column.of(a), y = column.of(b);
		if (known(x) !== known(y))
			return known(x) ? -1 : 1;
		const order = typeof x === "string" ? String(x).localeCompare(String(y)) : (x - y) || 0;
		return state.down ? -order : order;
	});
}

function headRow(columns, redraw) {
	return el("tr", {}, ...columns.map((c) => el("th", { title: c.hint, scope: "col",
		"aria-sort": state.sort === c.key ? (state.down ? "descending" : "ascending") : null },
	el("button", { type: "button", "data-key": c.key, onclick: () => {
		state.down = state.sort === c.key ? !state.down : !["name", "kind", "queue", "flags"].includes(c.key);
		state.sort = c.key;
		redraw();
		const again = document.querySelector(`th button[data-key="${CSS.escape(c.key)}"]`);
		if (again)
			again.focus();
	} }, c.title + (state.sort === c.key ? (state.down ? " ▾" : " ▴") : "")))));
}

function cellOf(log, d, c, g, place) {
	if (c.key === "name")
		return el("td", { class: "name", title: `${g.name}\nid ${g.id}` }, swatch(g.outside ? theme("line") : colour(place)), g.name);
	if (c.series !== undefined)
		return valueCell(log, d, g, c.series, c.which, c.unit);
	if (c.key !== "share")
		return el("td", {}, String(c.of(g)));
	const bar = el("span", { class: "share" });
	bar.style.width = `${Math.round(60 * (g.share || 0))}px`;
	return el("td", { title: "of all measured GPU time" }, bar, percent(g.share));
}

function openable(row, open) {
	row.tabIndex = 0;
	row.addEventListener("click", open);
	row.addEventListener("keydown", (e) => { if (e.key === "Enter") open(); });
	return row;
}

function filterBox(redraw) {
	const input = el("input", { id: "filter", type: "search", placeholder: "filter: part of a name, id, kind, flag", size: 34,
		"aria-label": "filter passes", value: state.filter, oninput: () => { state.filter = input.value; redraw(); } });
	return input;
}

function matches(g) {
	const text = [g.name, g.id, g.kind, g.queue, ...g.flags].join(" ").toLowerCase();
	return state.filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function passTable(log, d) {
	const head = el("thead"), body = el("tbody"), count = el("span", { class: "dim", id: "count" });
	const all = el("button", { type: "button", id: "all" });
	const draw = () => {
		const { columns, more } = tableColumns(log, d);
		const by = columns.find((c) => c.key === state.sort) || columns[0];
		const rows = sorted(d.groups.filter(matches), by);
		head.replaceChildren(headRow(columns, draw));
		body.replaceChildren(...rows.map((g) => openable(
			el("tr", {}, ...columns.map((c) => cellOf(log, d, c, g, d.groups.indexOf(g)))), () => openPass(d.groups.indexOf(g)))));
		count.textContent = `${rows.length} of ${d.groups.length} passes`;
		all.hidden = more <= 0;
		all.textContent = state.all ? "fewer columns" : `${more} more columns`;
	};
	all.addEventListener("click", () => { state.all = !state.all; draw(); });
	const section = el("section", {}, el("h2", {}, "Passes"), el("div", { class: "row" }, filterBox(draw), count, all),
		el("div", { class: "wide" }, el("table", { id: "passes" }, head, body)));
	draw();
	return section;
}

/* Notes */

function notesSection(log) {
	if (!log.notes.length && !log.notes_left_out)
		return el("section", {}, el("h2", {}, "Notes"), el("p", { class: "dim" }, "The capture had nothing to say."));
	const list = el("ul", { class: "notes" }, ...log.notes.map(([level, source, message, time]) =>
		el("li", { class: level === "info" ? null : "warning" }, level === "info" ? "" : `${level}: `,
			source ? el("span", { class: "tag" }, source) : null, message, time === undefined ? "" : " (marked in the chart)")));
	if (log.notes_left_out)
		list.append(el("li", {}, `and ${log.notes_left_out} more`));
	return el("section", {}, el("h2", {}, "Notes"), list);
}

function readingSection() {
	return el("section", { class: "dim" }, el("h2", {}, "How to read this"), el("p", {},
		"~ marks an estimate; - is a value that was not measured, and says why when pointed at. N is the number of frames whose GPU time " +
		"is known. Segments of a pass in a frame are joined. sd is of the sample, quantiles are nearest-rank. Whole numbers up to 2⁵³ are " +
		"exact here (larger ones are rounded to 53 bits); charts of other numbers are drawn from 32-bit floats, the tables are not."));
}

/* Pages */

async function showRun() {
	const { log, d } = current();
	const parts = [el("div", { class: "facts" }, runCard(log), deviceCard(d), d.rows ? costCard(d) : null)];
	if (!d.rows) {
		main.replaceChildren(...parts, el("p", {}, "No frame of this device is in the log."), notesSection(log));
		return;
	}
	await readFrames(d);
	state.row = Math.min(state.row, d.rows - 1);
	parts.push(frameChart(log, d), el("section", {}, el("h2", {}, "One frame"), framePicker(d), el("div", { id: "frame-bars" })),
		passTable(log, d), notesSection(log), readingSection());
	main.replaceChildren(...parts);
	view.makeFrames();
	await showFrame();
}

async function render() {
	forget();
	view.frames = null;
	const { log, d } = current();
	document.getElementById("title").textContent = meta.logs.map((l) => (l.program || l.file).split("/").pop()).join(" and ");
	document.title = `passtally: ${document.getElementById("title").textContent}`;
	chooser();
	if (state.pass >= 0 && d.groups && d.groups[state.pass])
		await showPass(log, d, d.groups[state.pass]);
	else if (state.compare)
		await showCompare();
	else
		await showRun();
	window.passtally.renders++;
}

function chooser() {
	const box = document.getElementById("choose"), options = [];
	if (meta.logs.length > 1)
		options.push(el("option", { value: "compare", selected: state.compare }, "Both, compared"));
	meta.logs.forEach((l, i) => l.devices.forEach((d, k) => options.push(el("option", { value: `${i}.${k}`,
		selected: !state.compare && i === state.log && k === state.device },
	`${meta.logs.length > 1 ? `${"AB"[i]}: ` : ""}device ${d.device}: ${d.name || "?"}`))));
	box.replaceChildren(options.length > 1 ? el("select", { id: "which", "aria-label": "log and device",
		onchange: (e) => go(e.target.value === "compare" ? { compare: true, pass: -1 } : { compare: false, pass: -1, row: 0,
			log: Number(e.target.value.split(".")[0]), device: Number(e.target.value.split(".")[1]) }) }, ...options) : "");
}

/* The address: #compare=1&log=0&device=0&pass=3&series=0 */
function go(change) {
	Object.assign(state, change);
	const next = `#compare=${Number(state.compare)}&log=${state.log}&device=${state.device}&pass=${state.pass}&series=${state.series}`;
	if (location.hash === next)
		render();
	else
		location.hash = next;
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
	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (e.key === "Escape") {
		if (typing)
			e.target.blur();
		else if (state.pass >= 0)
			go({ pass: -1 });
		return;
	}
	if (typing)
		return;
	const { d } = current(), frames = state.pass < 0 && !state.compare && d.rows;
	const actions = {
		t: () => document.getElementById("theme").click(),
		"?": () => document.getElementById("keys").click(),
		"/": () => document.getElementById("filter")?.focus(),
		z: () => charts.forEach((c) => c.resetZoom()),
		ArrowLeft: () => frames && pickFrame(state.row - 1),
		ArrowRight: () => frames && pickFrame(state.row + 1),
		Home: () => frames && pickFrame(0),
		End: () => frames && pickFrame(d.rows - 1),
		s: () => frames && pickFrame(slowest(d, "cpu")),
	};
	if (actions[e.key]) {
		e.preventDefault();
		actions[e.key]();
	}
}

function begin() {
	window.passtally = { meta, state, view, charts, problems, column, passesOf, renders: 0 };
	setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	document.getElementById("made").textContent = `Made by passtally ${meta.version} report --html` +
		(meta.warmup ? ` --warmup ${meta.warmup}` : "") + ". This page fetches nothing.";
	document.getElementById("theme").addEventListener("click", () => {
		setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
		render();
	});
	document.getElementById("keys").addEventListener("click", (e) => {
		const list = document.getElementById("key-list");
		list.hidden = !list.hidden;
		e.target.setAttribute("aria-expanded", String(!list.hidden));
	});
	addEventListener("keydown", keys);
	addEventListener("hashchange", () => { fromAddress(); render(); });
	if (typeof DecompressionStream === "undefined") {
		main.replaceChildren(el("p", { class: "bad" }, "This browser is too old: it has no DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)."));
		return;
	}
	if (!meta.logs.some((l) => l.devices.length)) {
		main.replaceChildren(...meta.logs.map(runCard), el("p", {}, "The log has no device and no frame."));
		window.passtally.renders++;
		return;
	}
	fromAddress();
	render();
}
