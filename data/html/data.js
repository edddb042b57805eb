/* SPDX-License-Identifier: MIT */
/* The numbers of the page: unpacked when they are looked at, each column once. Layout: cli/report/html.c. */
const meta = JSON.parse(document.getElementById("meta").textContent);
/* Windows have a part of a device's frames each. */
for (const log of meta.logs)
	for (const d of log.devices)
		d.windows = Math.max(1, (log.answers || []).filter((a) => a.device === d.device).length);
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
}

/* A value for each row: a point holds up to the next one, and the last one is the end. */
async function readSeries(index) {
	const bytes = await inflate(index),
		n = bytes.length / 8;
	const skipped = new Uint32Array(bytes.buffer, 0, n),
		points = new Float32Array(bytes.buffer, 4 * n, n);
	const rows = new Float64Array(skipped.reduce((sum, k) => sum + k, 0)).fill(NaN);
	let row = 0;
	for (let i = 0; i < n; i++) {
		if (i) rows.fill(points[i - 1], row, row + skipped[i]);
		row += skipped[i];
	}
	return { rows, values: rows.filter((v) => !Number.isNaN(v)) };
}

/* Null: there is none. */
function series(index) {
	if (index === undefined || index < 0) return Promise.resolve(null);
	if (!unpacked.has(index)) unpacked.set(index, readSeries(index));
	return unpacked.get(index);
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
		"sample_cpu",
		"sample_gpu",
	];
	const all = await Promise.all(d.columns.map((i) => (i < 0 ? null : inflate(i))));
	d.read = {};
	names.forEach((name, i) => {
		d.read[name] = all[i]
			? new Float64Array(all[i].buffer)
			: (d.read[name.replace("sample_", "")] ?? new Float64Array(d.rows).fill(NaN));
	});
	await readPasses(d);
	return d.read;
}

/* The passes of all rows, and where those of each begin. */
async function readPasses(d) {
	const bytes = await inflate(d.bars),
		lengths = new Uint32Array(bytes.buffer, 0, d.rows);
	let at = 4 * d.rows;
	d.passes = { bytes, begins: Array.from(lengths, (n) => (at += n) - n) };
}

/* The passes of a row in the order of the log: index, place, kind, start, gpu and cpu (ns; start
 * and cpu since the frame began: where the GPU and the CPU began the pass). */
function passesOf(d, row) {
	const { bytes, begins } = d.passes,
		b = new Bytes(bytes),
		out = [];
	b.at = begins[row];
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
