#!/usr/bin/env node
/* Load many logs into DuckDB and ask which passes got slower.
 *
 *     scripts/fleet/fleet.cjs [--db FILE] [--warmup N] [--fail-above PCT] [--json] BASE... -- NEW...
 *
 * BASE and NEW are logs or globs, plain or .zst. The tables stay in FILE, for queries of your own.
 * Exit status: 0; 1 with --fail-above, when a pass is slower by more than that for certain; 2
 * usage; 3 a log without a header; 77 DuckDB is not installed (npm install --prefix scripts/fleet);
 * 125 other errors.
 */
"use strict";

const fs = require("fs");
const path = require("path");

function fail(status, message) {
	process.stderr.write(`fleet: ${message}\n`);
	process.exit(status);
}

function usage(message) {
	fail(2, `${message}\nusage: fleet.cjs [--db FILE] [--warmup N] [--fail-above PCT] [--json] BASE... -- NEW...`);
}

function number(name, text) {
	if (!/^\d+(\.\d+)?%?$/.test(text ?? ""))
		usage(`${name} ${text ?? ""}: must be a number, 0 or more`);
	return parseFloat(text);
}

function parse(argv) {
	const wish = { db: ":memory:", warmup: 0, failAbove: null, json: false, base: [], new: [] };
	let side = wish.base;
	for (let i = 0; i < argv.length; i++) {
		if (argv[i] === "--db")
			wish.db = argv[++i] ?? usage("--db needs a file");
		else if (argv[i] === "--warmup")
			wish.warmup = Math.floor(number("--warmup", argv[++i]));
		else if (argv[i] === "--fail-above")
			wish.failAbove = number("--fail-above", argv[++i]);
		else if (argv[i] === "--json")
			wish.json = true;
		else if (argv[i] === "--" && side === wish.base)
			side = wish.new;
		else if (argv[i].startsWith("-"))
			usage(`unknown option ${argv[i]}`);
		else
			side.push(argv[i]);
	}
	if (!wish.base.length || !wish.new.length)
		usage("logs are needed on both sides of --");
	return wish;
}

function openDuckDB() {
	try {
		return require("@duckdb/node-api").DuckDBInstance;
	} catch (error) {
		fail(77, "DuckDB is not installed here: npm install --prefix scripts/fleet");
	}
}

const text = (s) => `'${s.replaceAll("'", "''")}'`;
const list = (files) => `[${files.map(text).join(", ")}]`;
const script = (name) => fs.readFileSync(path.join(__dirname, name), "utf8");

function printTable(rows) {
	const ms = (ns) => ns === null ? "-" : (ns / 1e6).toFixed(3);
	const pct = (v) => v === null ? "-" : `${v > 0 ? "+" : ""}${v.toFixed(1)}%`;
	const lines = [["pass", "runs", "base ms", "new ms", "change", "from", "to", "verdict"]];
	for (const r of rows)
		lines.push([r.label ?? r.id, `${r.base_runs}+${r.new_runs}`, ms(r.base_ns), ms(r.new_ns),
			pct(r.more_pct), pct(r.low_pct), pct(r.high_pct), r.verdict]);
	const widths = lines[0].map((_, i) => Math.max(...lines.map((l) => l[i].length)));
	for (const line of lines)
		console.log(line.map((c, i) => i === 0 || i === 7 ? c.padEnd(widths[i]) : c.padStart(widths[i]))
			.join("  ").trimEnd());
}

async function main() {
	const wish = parse(process.argv.slice(2));
	const instance = await openDuckDB().create(wish.db);
	const db = await instance.connect();
	const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJS();
	await db.run(`SET VARIABLE base_logs = ${list(wish.base)}`);
	await db.run(`SET VARIABLE new_logs = ${list(wish.new)}`);
	await db.run(`SET VARIABLE warmup = ${wish.warmup}`);
	await db.run("SET VARIABLE z = 2.5758293035489004");
	await db.run(script("load.sql"));
	const strange = await rows("SELECT DISTINCT log FROM frame WHERE log NOT IN (SELECT log FROM header)");
	if (strange.length)
		fail(3, `${strange[0].log}: no header line: is it a log of passtally? passtally check tells`);
	const found = (await rows(script("regress.sql"))).map((r) =>
		Object.fromEntries(Object.entries(r).map(([k, v]) => [k, typeof v === "bigint" ? Number(v) : v])));
	if (wish.json)
		console.log(JSON.stringify(found));
	else
		printTable(found);
	const slower = found.filter((r) => r.verdict === "slower" && r.low_pct > wish.failAbove);
	process.exitCode = wish.failAbove !== null && slower.length ? 1 : 0;
}

main().catch((error) => fail(125, error.message));
