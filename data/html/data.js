/* SPDX-License-Identifier: MIT */
/* The numbers of the page: unpacked when they are looked at, each column once. Layout: cli/report/html_parts.h. */
const meta = JSON.parse(document.getElementById("meta").textContent);
const unpacked = new Map();
let numbers = null;

function bytesOfBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const raw = atob(text),
		out = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
	return out;
}

async function inflate(index) {
	if (!numbers) {
		const element = document.getElementById("numbers");
		numbers = bytesOfBase64(element.textContent);
		element.remove();
	}
	const [offset, length] = meta.columns[index];
	const stream = new Blob([numbers.subarray(offset, offset + length)])
		.stream()
		.pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Bytes {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	/* Exact to 2^53. */
	unsigned() {
		let v = 0,
			scale = 1;
		for (;;) {
			const byte = this.bytes[this.at++];
			v += (byte & 127) * scale;
			if (byte < 128) return v;
			scale *= 128;
		}
	}
	signed() {
		const v = this.unsigned();
		return v % 2 ? -(v + 1) / 2 : v / 2;
	}
	big() {
		let v = 0n,
			shift = 0n;
		for (;;) {
			const byte = this.bytes[this.at++];
			v |= BigInt(byte & 127) << shift;
			if (byte < 128) return v & 1n ? -((v + 1n) >> 1n) : v >> 1n;
			shift += 7n;
		}
	}
}

function readReal(b, n, values) {
	const from = b.bytes,
		at = b.at,
		four = new Uint8Array(4),
		view = new DataView(four.buffer);
	for (let i = 0; i < n; i++) {
		for (let k = 0; k < 4; k++) four[k] = from[at + k * n + i];
		values[i] = view.getFloat32(0, true);
	}
}

function readWhole(b, n, values) {
	let last = 0;
	for (let i = 0; i < n; i++) values[i] = last += b.signed();
}

function readWide(b, n, values, isSigned) {
	let last = 0n;
	for (let i = 0; i < n; i++) {
		last += b.big();
		values[i] = Number(isSigned ? BigInt.asIntN(64, last) : BigInt.asUintN(64, last));
	}
}

/* { rows, values, wide } by ascending row; null: there is none. */
function column(index) {
	if (index === undefined || index < 0) return Promise.resolve(null);
	if (!unpacked.has(index)) unpacked.set(index, readColumn(index));
	return unpacked.get(index);
}

async function readColumn(index) {
	const kind = meta.columns[index][2],
		b = new Bytes(await inflate(index));
	const n = b.unsigned(),
		runs = b.unsigned();
	const rows = new Uint32Array(n),
		values = new Float64Array(n);
	let row = 0,
		filled = 0;
	for (let i = 0; i < runs; i++) {
		row += b.unsigned();
		for (let left = b.unsigned(); left > 0; left--) rows[filled++] = row++;
	}
	if (kind === 1) readReal(b, n, values);
	else if (kind === 0) readWhole(b, n, values);
	else readWide(b, n, values, kind === 3);
	return { rows, values, wide: kind > 1 };
}

/* By row, NaN where there is no value. */
function dense(col, rows) {
	const out = new Float64Array(rows).fill(NaN);
	if (col) for (let i = 0; i < col.rows.length; i++) out[col.rows[i]] = col.values[i];
	return out;
}

/* A device's frames. */
async function readFrames(d) {
	if (d.read) return d.read;
	const names = [
		"frame",
		"start",
		"cpu",
		"gpu",
		"envelope",
		"coverage",
		"unattributed",
		"overhead",
		"dropped",
		"flags",
	];
	const all = await Promise.all(d.columns.map(column));
	d.read = {};
	names.forEach((name, i) => {
		d.read[name] = dense(all[i], d.rows);
	});
	return d.read;
}

/* Where each kept frame's passes begin. */
async function barPlaces(d) {
	if (d.places) return d.places;
	const bytes = await inflate(d.bars),
		b = new Bytes(bytes),
		places = [];
	while (b.at < bytes.length) {
		places.push(b.at);
		for (let n = b.unsigned(); n > 0; n--) {
			b.unsigned();
			const kind = d.kinds[b.unsigned()];
			if (kind[3]) b.unsigned();
			if (kind[4]) b.unsigned();
			if (kind[5]) b.unsigned();
		}
	}
	d.places = { bytes, places };
	return d.places;
}

/* The passes of a row in the order of the log: index, place, kind, start, gpu and cpu (ns; start
 * and cpu since the frame began: where the GPU and the CPU began the pass). Null: not kept for this frame. */
async function passesOf(d, row) {
	if (row % d.bar_step) return null;
	const { bytes, places } = await barPlaces(d),
		b = new Bytes(bytes),
		out = [];
	b.at = places[row / d.bar_step];
	let place = -1,
		end = 0,
		cpu = 0;
	for (let n = b.unsigned(); n > 0; n--) {
		place += 1 + b.signed();
		const pass = {
			index: out.length,
			place,
			kind: d.kinds[b.unsigned()],
			start: NaN,
			gpu: NaN,
			cpu: NaN,
		};
		if (pass.kind[3]) pass.start = end + b.signed();
		if (pass.kind[4]) pass.gpu = b.unsigned();
		if (pass.kind[3]) end = pass.start + pass.gpu;
		if (pass.kind[5]) pass.cpu = cpu += b.signed();
		out.push(pass);
	}
	return out;
}
