/* SPDX-License-Identifier: MIT */
/* The answer that `passtally report` gives (cli/answer/), at the top of the page: how fast, bound
 * by what, the typical frame, the hitches. */
function answerOf(log, d) {
	return (log.answers || []).find((a) => a.device === d.device) || null;
}

/* "Window 1 of 2, 640x360: " where the answer is about one of several. */
function windowWords(log, answer) {
	const all = log.answers.filter((a) => a.device === answer.device);
	return all.length > 1
		? `Window ${answer.window} of ${all.length}, ${answer.width}x${answer.height}: `
		: "";
}

function tile(value, name, title) {
	return el(
		"div",
		{ class: "tile", title },
		el("strong", {}, value),
		el("span", { class: "dim" }, name),
	);
}

function rate(v) {
	return `${v >= 100 ? Math.round(v) : v.toPrecision(3)} fps`;
}

function sentence(words) {
	return words ? `${words.charAt(0).toUpperCase()}${words.slice(1)}${words.endsWith("?") ? "" : "."}` : "";
}

/* The time until the first frame, or what was left out for loading, with what was loaded. */
function untilFrameWords({ start, left_out, loaded }) {
	const words = start || (loaded.length ? left_out : "");
	return words ? [words, ...loaded.map((e) => e.text)].join("; ") : "";
}

function leftOutSentence(d, answer) {
	const more = [
		d.partial_frames && `${d.partial_frames} cut by the run's end`,
		d.dropped_passes && `${d.dropped_passes} passes dropped`,
	].filter(Boolean);
	const left = answer.start || !answer.loaded.length ? answer.left_out : "";
	return [sentence(left), sentence(more.join(", "))].filter(Boolean).join(" ");
}

function costSentence({ cost }) {
	return (
		`passtally costs ${duration(cost.mean_ns)} a frame (${(100 * cost.share).toFixed(1)} %)` +
		(cost.once_ns ? `, and ${duration(cost.once_ns)} once at the start.` : ".")
	);
}

function incompleteWords(d) {
	if (d.pictured !== undefined && !d.partial_frames)
		return "No frame was measured: each runs what --pictures recorded copies in.";
	if (d.rows === 1)
		return (
			"No frame ended: no swap was seen, or nothing that --frame names; try --frame " +
			`${d.api === "vulkan" ? "submit:1" : "finish"}.`
		);
	return (
		`No complete frame: all ${plain(d.rows)} frames were cut by the end of the run, so ` +
		"there is no rate, no typical frame and no hitch. A longer run has them."
	);
}

/* About the device, or one of its windows. */
function answerParts(log, d, answer) {
	const { p50_ns, p99_ns } = answer.frame_time;
	/* Over a change of speed medians are those of no frame. */
	const steady = !answer.changes.length;
	/* One in a hundred, or in a thousand, is there of as many. */
	const hundred = answer.frames >= 100;
	return [
		el(
			"p",
			{ class: "first" },
			windowWords(log, answer),
			el("strong", {}, sentence(answer.bound.text)),
			answer.bound.hint ? ` ${sentence(answer.bound.hint)}` : null,
		),
		...[untilFrameWords(answer), ...answer.changes.map((c) => c.text), answer.presence, answer.calls_began, answer.memory, answer.alternates]
			.filter(Boolean)
			.map((text) => el("p", { class: "change" }, sentence(text))),
		el(
			"div",
			{ class: "tiles" },
			answer.idle_ns
				? tile(duration(answer.idle_ns), "waits for events", "it draws on demand")
				: tile(rate(answer.fps), "mean rate"),
			hundred && !answer.idle_ns ? tile(rate(answer.low_1_fps), "1 % low", "rate of the slowest 1 % of frames") : null,
			answer.frames >= 1000 && !answer.idle_ns ? tile(rate(answer.low_01_fps), "0.1 % low") : null,
			steady ? tile(duration(p50_ns), "frame time, median") : null,
			tile(duration(p99_ns), `frame time, ${hundred ? "p99" : "longest"}`),
			steady && d.gpu_ns.n && !answer.window ? tile(duration(d.gpu_ns.p50), "GPU time, median") : null,
		),
		el(
			"p",
			{},
			`${plain(answer.frames)} ${answer.frames === 1 ? "frame" : "frames"}. `,
			el("span", { class: "dim" }, leftOutSentence(d, answer), " "),
			el(
				"span",
				{ class: answer.cost.warning ? "bad" : "dim" },
				costSentence(answer),
			),
		),
	];
}

/* Another window, with what the sections below have of the first. */
function otherWindow(log, d, answer) {
	const { passes, text, gpu_ns } = answer.typical;
	const { hitches } = answer;
	const list = passes.map((p) => `${p.name} ${duration(p.p50_ns)} ${percent(p.share)}`);
	return [
		...answerParts(log, d, answer),
		gpu_ns ? el("p", {}, sentence(`${text}: ${list.join(", ")}`)) : null,
		hitches.n ? el("p", {}, sentence(`${hitches.text}; ${hitches.worst[0].text}`)) : null,
	];
}

function answerSection(log, d) {
	const answer = answerOf(log, d);
	if (!answer) return el("section", { id: "answer" }, el("p", {}, incompleteWords(d)));
	const others = log.answers.filter((a) => a.device === d.device && a !== answer);
	return el(
		"section",
		{ id: "answer", "aria-label": "the answer" },
		answer.hang ? el("p", { class: "first" }, el("strong", {}, sentence(answer.hang))) : null,
		...answerParts(log, d, answer),
		...others.map((a) => el("div", { class: "window" }, ...otherWindow(log, d, a))),
	);
}

/* The passes of the typical frame, by the beginnings of their labels, as one bar. */
function typicalSection(log, d) {
	const answer = answerOf(log, d);
	if (!answer || !answer.typical.passes.length || !answer.typical.gpu_ns) return null;
	const { passes, text } = answer.typical;
	/* A run of one pass. */
	const draws = answer.lines.find((line) => /^  \d+ draws, .*--granularity draw/.test(line));
	const bar = el("div", { class: "stack" });
	passes.forEach((p, i) => {
		const words = `${p.name} ${percent(p.share)}: ${duration(p.p50_ns)}`;
		const part = el(
			"button",
			{
				type: "button",
				class: "bar",
				title: `${words}; shows its passes in the table`,
				"aria-label": words,
				"data-place": `typical-${i}`,
				onclick: () => filterPasses(p.name),
			},
			p.share < 0.03 ? "" : `${p.name} ${percent(p.share)}`,
		);
		part.style.flexGrow = String(p.share);
		part.style.background = colour(placeOfLabel(d, p.name));
		bar.append(part);
	});
	return el(
		"section",
		{ id: "typical" },
		el("h2", {}, `${windowWords(log, answer)}the ${text}`.replace(/^the/, "The")),
		bar,
		draws ? el("p", { class: "dim" }, `${draws.trim()}.`) : null,
		...answer.calls.map((c) => el("p", { class: "dim" }, c.text)),
	);
}

/* The first pass with that name or below that label, for its colour. */
function placeOfLabel(d, name) {
	const at = d.groups.findIndex(
		(g) => g.name === name || (g.label || "").startsWith(`${name}/`),
	);
	return Math.max(0, at);
}

function hitchSection(log, d) {
	const { n, text, worst } = answerOf(log, d).hitches;
	const list = el("ol", { class: "plain" });
	for (const h of worst.slice().sort((a, b) => a.frame - b.frame))
		list.append(
			el(
				"li",
				{},
				el(
					"button",
					{
						type: "button",
						class: "hitch",
						"data-place": `hitch-${h.frame}`,
						title: h.text,
						onclick: () => pickFrame(rowNear(d, h.frame)),
					},
					el("span", {}, `frame ${plain(h.frame)}`),
					el("span", { class: "bad" }, `+${duration(h.excess_ns)}`),
					/* "frame 7: +9.00 ms, cause", as everywhere */
					el("span", {}, h.text.slice(h.text.indexOf(", ") + 2)),
				),
			),
		);
	return el(
		"section",
		{ id: "hitches" },
		el("h2", {}, n ? `${plain(n)} ${n === 1 ? "hitch" : "hitches"}` : "No hitches"),
		el(
			"p",
			{ class: "dim" },
			n
				? (n > 1 ? sentence(text.replace(/^hitches: \d+, /, "")) : "") +
						(n > worst.length ? " The worst:" : "")
				: "No frame took much longer than those around it.",
		),
		list,
	);
}
