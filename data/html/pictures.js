/* SPDX-License-Identifier: MIT */
/* What --pictures made of one frame: what each pass drew, in the order of the frame. */
const pictureAddresses = new Map();

function pictureAddress(source) {
	if (!pictureAddresses.has(source))
		pictureAddresses.set(
			source,
			inflate(source).then((bytes) =>
				URL.createObjectURL(new Blob([bytes], { type: "image/png" })),
			),
		);
	return pictureAddresses.get(source);
}

function pictureOf([, source], alt) {
	const img = el("img", { alt, loading: "lazy" });
	pictureAddress(source).then((address) => (img.src = address));
	return img;
}

/* The pictures of a pass, of all its parts in the frame: [part, pictures] each. */
function picturesOf(d, place) {
	return (d.pictures || []).filter(([of, ...list]) => of === place && list.length);
}

/* A small one of what it drew last, beside the pass's name. */
function smallPicture(d, place) {
	const found = picturesOf(d, place).pop();
	if (!found) return null;
	const img = pictureOf(found[1], "");
	img.className = "thumb";
	return img;
}

function filmStrip(d) {
	if (!d.pictures) return null;
	const strip = el("ol", { class: "strip scrolls" });
	d.pictures.forEach(([place, ...list], i) => {
		const group = d.groups[place],
			parts = d.pictures.filter(([of]) => of === place).length;
		const time = withUnit(stat(group, 0, "p50"), "ns");
		strip.append(
			el(
				"li",
				{},
				el(
					"button",
					{
						type: "button",
						"data-place": `picture-${i}`,
						onclick: () => openPass(place),
					},
					list.length
						? pictureOf(list[0], "")
						: el("span", { class: "none dim" }, "no picture: see the notes"),
					el("span", {}, swatch(colour(place)), group.name),
					el("span", { class: "dim" }, parts > 1 ? `${time} in ${parts} parts` : time),
				),
			),
		);
	});
	return el(
		"section",
		{ id: "pictures" },
		el("h2", {}, `What the passes of frame ${plain(d.pictured)} drew`),
		strip,
		el("p", { class: "dim" }, "GPU times are medians of the run: this frame is not measured."),
	);
}

/* On the page of a pass. */
function pictureFigures(sides) {
	const figures = sides.flatMap((side) =>
		picturesOf(side.d, side.d.groups.indexOf(side.group)).flatMap(([, ...list], part, parts) =>
			list.map((picture) => {
				const words = [
					picture[0],
					parts.length > 1 ? `part ${part + 1}` : null,
					sides.length > 1 ? side.name : null,
				]
					.filter(Boolean)
					.join(", ");
				return el(
					"figure",
					{},
					pictureOf(picture, `${side.group.name}, ${words}`),
					el("figcaption", { class: "dim" }, words),
				);
			}),
		),
	);
	return figures.length ? el("div", { class: "figures" }, ...figures) : null;
}
