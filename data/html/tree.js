/* SPDX-License-Identifier: MIT */
/* Labels are a tree: Bloom/Up 0 is below Bloom. Its icicle: a row a level, as wide as the GPU time. */
function labelTree(parts) {
	const root = { name: "", value: 0, passes: 0, children: [], group: null, path: "" };
	for (const part of parts) {
		const words = part.group.label ? part.group.label.split("/") : [part.group.name];
		root.value += part.value;
		root.passes += part.passes;
		let at = root;
		words.forEach((word, depth) => {
			const path = words.slice(0, depth + 1).join("/");
			let child = at.children.find((c) => c.path === path);
			if (!child) {
				child = {
					name: word,
					path,
					value: 0,
					passes: 0,
					children: [],
					place: -1,
				};
				at.children.push(child);
			}
			child.value += part.value;
			child.passes += part.passes;
			if (depth === words.length - 1) child.place = part.place;
			at = child;
		});
	}
	return root;
}

function treeDepth(node) {
	return 1 + Math.max(0, ...node.children.map(treeDepth));
}

function nodeWords(node, whole) {
	const many = node.children.length ? `${node.passes} passes, ` : "";
	const share = whole ? (100 * node.value) / whole : 0;
	return `${node.path}: ${many}${share.toFixed(share < 10 ? 1 : 0)} %, ${duration(node.value)}`;
}

function icicleNode(node, from, depth, whole, box) {
	const width = whole ? node.value / whole : 0;
	const words = nodeWords(node, whole);
	const bar = el(
		"button",
		{
			type: "button",
			class: width < 0.01 ? "bar narrow" : "bar",
			title: words,
			"aria-label": words,
			"data-place": `label-${node.path}`,
			onclick: () =>
				node.children.length
					? filterPasses(node.path)
					: openPass(node.place),
		},
		width < 0.02 ? "" : node.children.length ? words : node.name,
	);
	bar.style.left = `${100 * from}%`;
	bar.style.width = `${100 * width}%`;
	bar.style.top = `${27 * depth}px`;
	bar.style.background = colour(firstPlace(node));
	box.append(bar);
	let at = from;
	for (const child of node.children) {
		icicleNode(child, at, depth + 1, whole, box);
		at += whole ? child.value / whole : 0;
	}
}

function firstPlace(node) {
	return node.place >= 0 || !node.children.length ? node.place : firstPlace(node.children[0]);
}

/* Passes without a time are counted above them, and have no bar. */
function withTime(node) {
	node.children = node.children.filter((c) => c.value > 0);
	node.children.forEach(withTime);
	return node;
}

/* parts: { group, place, value, passes }, in order. Null: no label has another below it. */
function icicle(parts) {
	const tree = withTime(labelTree(parts));
	const depth = treeDepth(tree) - 1;
	if (depth < 2) return null;
	const box = el("div", { class: "icicle" });
	box.style.height = `${27 * depth}px`;
	let at = 0;
	for (const node of tree.children) {
		icicleNode(node, at, 0, tree.value, box);
		at += node.value / tree.value;
	}
	return box;
}
