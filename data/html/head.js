/* SPDX-License-Identifier: MIT */
/* Facts of the run, the device and the frames, of one run or two; the notes a page ends with. */
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

function endWords(log) {
	if (log.truncated) return "cut: the last line is not whole, as when a program is killed";
	return log.end
		? log.end.reason + (log.end.dropped ? `; ${log.end.dropped} frames dropped` : "")
		: "no end line: the program was killed, crashed, or is still running";
}

function argumentWords(log) {
	return log.argv ? log.argv.slice(1).join(" ") || "none" : "not in the log (--no-argv)";
}

function tagWords(log) {
	return Object.entries(log.tags || {})
		.map(([key, value]) => `${key}=${value}`)
		.join(", ");
}

function startWords(log) {
	return log.started_ms
		? new Date(log.started_ms).toISOString().replace("T", " ").replace(/\..*/, " UTC")
		: "-";
}

/* What one page is known by among others. */
function logWords(log) {
	const words = log.argv ? log.argv.slice(1).join(" ") : "";
	return [log.file, log.started_ms ? startWords(log) : null, words || null, log.end ? null : endWords(log)]
		.filter(Boolean)
		.join(" \u00b7 ");
}

function driverWords(d) {
	return [d.driver, d.driver_version].filter(Boolean).join(" ") || "-";
}

function runFacts(log) {
	return [
		["Log", log.file],
		["Program", log.program],
		["Arguments", argumentWords(log)],
		["Started", startWords(log)],
		["Tags", tagWords(log)],
		["Machine", log.machine],
		["Captured by", `passtally ${log.version}`],
		["End", endWords(log)],
	];
}

function deviceFacts(d) {
	return [
		["Device", `${d.device}: ${d.name || "-"}`],
		["API", d.api || "-"],
		["Driver", driverWords(d)],
		["PCI", d.pci],
		["Surface", d.width ? `${d.width} x ${d.height}` : null],
		["GPU clock", d.clock],
		[
			"Below",
			d.shown
				? null
				: `device ${d.beneath}: the same work, seen lower down`,
		],
		["Serialized by", d.serialized_by],
	];
}

/* "source: reason" each. */
function offList(d) {
	return el(
		"ul",
		{ class: "plain" },
		...d.sources_off.map((line) => {
			const at = line.indexOf(": ");
			return at < 0
				? el("li", {}, line)
				: el(
						"li",
						{},
						el("span", { class: "tag" }, line.slice(0, at)),
						line.slice(at + 2),
					);
		}),
	);
}

/* [name, value] each. */
function optionPairs(log) {
	const out = [];
	for (let i = 0; i < log.options.length; i += 2)
		out.push([log.options[i], log.options[i + 1]]);
	return out;
}

function optionTags(pairs) {
	return el(
		"div",
		{},
		...pairs.map(([name, value]) => el("span", { class: "tag" }, `${name}=${value}`)),
	);
}

function methodFacts(log, d) {
	const options = optionPairs(log);
	return [
		["Options", options.length ? optionTags(options) : "all as by default"],
		["Not measured", d ? (d.sources_off.length ? offList(d) : "nothing was missing") : null],
	];
}

function frameWords(s) {
	return s.n
		? `${duration(s.mean)} mean, ${duration(s.p50)} p50, ${duration(s.p99)} p99`.replace(
				/ (?=[^\d])/g,
				"\u00a0",
			)
		: "- (not measured)";
}

function leftOutWords(d) {
	return [
		d.partial_frames && `${d.partial_frames} cut by the run's end`,
		d.warmup_frames && `${d.warmup_frames} left out as loading`,
		d.dropped_passes && `${d.dropped_passes} passes dropped`,
	]
		.filter(Boolean)
		.join(", ");
}

function ownCost(d) {
	return d.overhead_ns.n && d.cpu_ns.n
		? `${duration(d.overhead_ns.p50)} a frame, ${trim((100 * d.overhead_ns.p50) / d.cpu_ns.p50, 2)} % of it`
		: "-";
}

function frameFactList(d) {
	const left = leftOutWords(d);
	return [
		["Frames", plain(d.frames) + (left ? ` (${left})` : "")],
		["Frame time", frameWords(d.cpu_ns)],
		["GPU time", frameWords(d.gpu_ns)],
		[
			"In passes",
			d.coverage === undefined
				? "- (no GPU time)"
				: `${percent(d.coverage)} of the measured GPU time`,
		],
		["passtally costs", ownCost(d)],
		["Flags", d.flags.join(", ") || "none"],
	];
}

function emptyWords(d) {
	return (
		"No frame of this device is in the log." +
		(d.warmup_frames ? ` ${d.warmup_frames} were left out as loading: see --warmup 0.` : "")
	);
}

/* Folded unless there is nothing else to see. */
function aboutSection(log, d, open) {
	const words = [d && d.name, d && d.api, `passtally ${log.version}`].filter(Boolean);
	return el(
		"details",
		{ class: "about", id: "about", open },
		el("summary", {}, el("h2", {}, `About this run: ${words.join(", ")}`)),
		el(
			"div",
			{ class: "facts" },
			card("Run", facts(runFacts(log))),
			d ? card("Device", facts(deviceFacts(d))) : null,
			d && d.rows ? card("Frames", facts(frameFactList(d))) : null,
			card("How it was measured", facts(methodFacts(log, d))),
		),
	);
}

/* Two runs in one table: what is the same stands once. */
function bothRows(la, a, lb, b) {
	const words = [
		["Program", (l) => l.program || "-"],
		["Arguments", argumentWords],
		["Started", startWords],
		["Device", (l, d) => `${d.device}: ${d.name || "-"} (${d.api || "-"})`],
		["Driver", (l, d) => driverWords(d)],
		["Captured by", (l) => `passtally ${l.version}`],
		["End", endWords],
		[
			"Frames",
			(l, d) =>
				plain(d.frames) + (leftOutWords(d) ? ` (${leftOutWords(d)})` : ""),
		],
		["Flags", (l, d) => d.flags.join(", ") || "none"],
		["Not measured", (l, d) => d.sources_off.join("; ") || "nothing was missing"],
	];
	const rows = words.map(([name, of]) => {
		const x = of(la, a),
			y = of(lb, b);
		return el(
			"tr",
			{ class: "plain" },
			el("td", {}, name),
			...(x === y
				? [el("td", { class: "word", colspan: 3 }, x)]
				: [
						el("td", { class: "word" }, x),
						el("td", { class: "word" }, y),
						el("td"),
					]),
		);
	});
	const other = (pairs, than) => pairs.filter(([name, value]) => than.get(name) !== value);
	const oa = optionPairs(la),
		ob = optionPairs(lb);
	const da = other(oa, new Map(ob)),
		db = other(ob, new Map(oa));
	rows.push(
		el(
			"tr",
			{ class: "plain" },
			el("td", {}, "Options"),
			...(da.length || db.length
				? [
						el("td", { class: "word" }, optionTags(da)),
						el("td", { class: "word" }, optionTags(db)),
						el("td", { class: "dim" }, "others are the same"),
					]
				: [
						el(
							"td",
							{ class: "word", colspan: 3 },
							oa.length
								? "the same in both"
								: "all as by default",
						),
					]),
		),
	);
	return rows;
}

function bothNumbers(a, b) {
	const at = (name, which) => (d) => d[name][which] ?? NaN;
	const numbers = [
		["Frame time, mean", at("cpu_ns", "mean"), "cpu_ns"],
		["Frame time, p50", at("cpu_ns", "p50")],
		["Frame time, p99", at("cpu_ns", "p99")],
		["GPU time, mean", at("gpu_ns", "mean"), "gpu_ns"],
		["GPU time, p50", at("gpu_ns", "p50")],
		["GPU time, p99", at("gpu_ns", "p99")],
		["passtally costs a frame", at("overhead_ns", "p50")],
	];
	/* Only means are compared. */
	const rows = numbers.map(([name, of, key]) => {
		const x = of(a),
			y = of(b),
			verdict = key && verdictOf(a.device, "frame", key),
			color = judged(verdict, "ns"),
			raw = key ? signedPercent((100 * (y - x)) / x) : "";
		return el(
			"tr",
			{ class: "plain" },
			el("td", {}, name),
			el("td", { class: "word" }, withUnit(x, "ns")),
			el("td", { class: "word" }, withUnit(y, "ns")),
			el(
				"td",
				{ class: ["word", color].filter(Boolean).join(" ") },
				verdict ? verdictText(verdict, duration) : raw,
			),
		);
	});
	const covered = (d) => el("td", { class: "word" }, percent(d.coverage));
	rows.push(
		el(
			"tr",
			{ class: "plain" },
			el("td", {}, "In passes"),
			covered(a),
			covered(b),
			el("td"),
		),
	);
	return rows;
}

function bothTable(la, a, lb, b, rows, id) {
	const head = (words, fill) =>
		el("th", { scope: "col", class: "word" }, fill ? swatch(theme(fill)) : null, words);
	const heads = [
		head("value"),
		head(`A, base: ${la.file}`, "gpu"),
		head(`B, new: ${lb.file}`, "cpu"),
		head("change"),
	];
	return el(
		"div",
		{ class: "wide all" },
		el(
			"table",
			{ id, class: "both", "aria-label": "Both runs" },
			el("thead", {}, el("tr", {}, ...heads)),
			el("tbody", {}, ...rows),
		),
	);
}

function notesSection(log, name) {
	const title = name ? `Notes of ${name}` : "Notes";
	if (!log.notes.length && !log.notes_left_out)
		return el(
			"section",
			{},
			el("h2", {}, title),
			el("p", { class: "dim" }, log.end ? "The capture had nothing to say." : sentence(endWords(log))),
		);
	const list = el(
		"ul",
		{ class: "notes" },
		...log.notes.map(([level, source, message, time]) =>
			el(
				"li",
				{ class: level === "info" ? null : "warning" },
				level === "info" ? "" : `${level}: `,
				source ? el("span", { class: "tag" }, source) : null,
				message,
				time === undefined || name ? "" : " (marked in the chart)",
			),
		),
	);
	if (log.notes_left_out) list.append(el("li", {}, `and ${log.notes_left_out} more`));
	return el("section", {}, el("h2", {}, title), list);
}

function readingSection() {
	return el(
		"section",
		{ class: "dim" },
		el("h2", {}, "How to read this"),
		el(
			"p",
			{},
			"~ marks an estimate; - is a value that was not measured, and says why when pointed at. " +
				"N is the number of frames whose GPU time " +
				"is known. Segments of a pass in a frame are joined. sd is of the sample, quantiles are " +
				"nearest-rank. Whole numbers up to 2⁵³ are exact in tables (larger ones are rounded " +
				"to 53 bits); charts of passes are drawn from 32-bit floats.",
		),
	);
}
