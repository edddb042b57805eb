/* Two logs side by side: passes joined by identity. Differences only; `passtally compare` tells them from noise. */
function joinPasses(a, b) {
	const pairs = [], left = new Map(b.groups.map((g) => [g.outside ? "outside" : g.id, g]));
	for (const g of a.groups) {
		const key = g.outside ? "outside" : g.id;
		pairs.push({ a: g, b: left.get(key) || null });
		left.delete(key);
	}
	for (const g of left.values())
		pairs.push({ a: null, b: g });
	return pairs.map((p) => {
		const one = p.a || p.b, x = stat(p.a, 0, "mean"), y = stat(p.b, 0, "mean");
		return { ...one, pair: p, series: one.series, before: x, after: y, change: y - x, ratio: (y - x) / x,
			cost: ((p.b && stat(p.b, 0, "sum")) || 0) / (b.frames || 1) - ((p.a && stat(p.a, 0, "sum")) || 0) / (a.frames || 1),
			state: !p.a ? "new in B" : !p.b ? "gone in B" : "" };
	});
}

function signed(v, words) {
	return Number.isFinite(v) ? `${v > 0 ? "+" : v < 0 ? "−" : ""}${words(Math.abs(v))}` : "-";
}

const COMPARE = [
	{ key: "name", title: "pass", of: (p) => p.name },
	{ key: "before", title: "A: GPU mean", of: (p) => p.before, show: (p) => withUnit(p.before, "ns") },
	{ key: "after", title: "B: GPU mean", of: (p) => p.after, show: (p) => withUnit(p.after, "ns") },
	{ key: "change", title: "difference", of: (p) => p.change, show: (p) => signed(p.change, duration) },
	{ key: "ratio", title: "in %", of: (p) => p.ratio, show: (p) => signed(100 * p.ratio, (v) => `${trim(v, 3)} %`) },
	{ key: "cost", title: "a frame", of: (p) => Math.abs(p.cost), show: (p) => signed(p.cost, duration),
		hint: "difference of the pass's GPU time over all frames, divided by the frames" },
	{ key: "state", title: "", of: (p) => p.state },
];

function compareTable(la, a, lb, b) {
	const all = joinPasses(a, b), head = el("thead"), body = el("tbody"), count = el("span", { class: "dim", id: "count" });
	if (!COMPARE.some((c) => c.key === state.sort))
		Object.assign(state, { sort: "cost", down: true });
	const open = (p) => () => go(p.pair.a ? { log: 0, device: la.devices.indexOf(a), pass: a.groups.indexOf(p.pair.a), series: 0 }
		: { log: 1, device: lb.devices.indexOf(b), pass: b.groups.indexOf(p.pair.b), series: 0 });
	const draw = () => {
		const rows = sorted(all.filter(matches), COMPARE.find((c) => c.key === state.sort));
		head.replaceChildren(headRow(COMPARE, draw));
		body.replaceChildren(...rows.map((p) => openable(el("tr", {}, ...COMPARE.map((c) => el("td", {
			class: ["change", "ratio", "cost"].includes(c.key) && p.change ? (p.change > 0 ? "bad" : "good") : null,
			title: c.key === "name" ? `id ${p.id}` : c.show && c.show(p) === "-"
				? p.state || whyAbsent(p.pair.a ? la : lb, p.pair.a ? a : b, p.pair.a || p.pair.b, 0) : null },
		c.show ? c.show(p) : String(c.of(p))))), open(p))));
		count.textContent = `${rows.length} of ${all.length} passes`;
	};
	draw();
	return el("section", {}, el("h2", {}, "Passes of both"), el("div", { class: "row" }, filterBox(draw), count,
		el("span", { class: "dim" }, "Differences as they are. Whether one is more than noise: passtally compare A B.")),
	el("div", { class: "wide" }, el("table", { id: "passes" }, head, body)));
}

function compareChart(a, b, column, title) {
	const holder = el("div", { class: "chart small" }), legend = el("span", { class: "legend" });
	const rows = Math.max(a.rows, b.rows), x = a.read[column], y = b.read[column];
	const ms = (values, i) => i < values.length && !Number.isNaN(values[i]) ? values[i] / 1e6 : null;
	const data = Array.from({ length: rows }, (unused, i) => [i, ms(x, i), ms(y, i)]);
	const labels = ["frame", "A", "B"], colors = [theme("gpu"), theme("cpu")];
	return { box: el("section", {}, el("h2", {}, title), el("div", { class: "row" }, legend,
		el("span", { class: "dim" }, "by place in the run; drag: zoom")), holder),
	draw: () => lineChart(holder, legend, data, { labels, colors, strip: true, rest: rests(labels, colors),
		format: (v) => `${trim(v, 4)} ms`, axis: (v) => `${trim(v, 4)} ms` }) };
}

async function showCompare() {
	const [la, lb] = meta.logs, a = la.devices[shownDevice(la)], b = lb.devices[shownDevice(lb)];
	const cards = el("div", { class: "facts pair" });
	for (const [name, log, d] of [["A", la, a], ["B", lb, b]]) {
		const box = runCard(log);
		box.querySelector("h2").prepend(`${name}: `);
		cards.append(box, d && d.rows ? costCard(d) : card("Frames", el("p", {}, "none")));
	}
	main.replaceChildren(cards);
	if (!a || !b || !a.rows || !b.rows) {
		main.append(el("p", {}, "Both logs need frames to be compared."));
		return;
	}
	if (a.name !== b.name || a.driver_version !== b.driver_version)
		main.append(el("p", { class: "warning" }, "The logs are of different devices or drivers."));
	await Promise.all([readFrames(a), readFrames(b)]);
	const times = compareChart(a, b, "cpu", "Frame time"), gpu = compareChart(a, b, "gpu", "GPU time");
	main.append(times.box, gpu.box, compareTable(la, a, lb, b), notesSection(la), notesSection(lb), readingSection());
	times.draw();
	gpu.draw();
}
