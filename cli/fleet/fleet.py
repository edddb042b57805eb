# SPDX-License-Identifier: MIT
"""passtally fleet, run by cli/fleet/fleet.c, which has read the options: main() has their order.

docs/fleet.md describes the folder of Parquet files. DuckDB does the work, by its module for Python or libduckdb.so.
"""

import collections
import concurrent.futures
import contextlib
import ctypes
import fcntl
import glob
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

FORMAT = {"format": "passtally-fleet/1"}
BATCH = 4000  # files that are read at once: bounds the memory
SHOWN = 20, 5  # files of which is said why they are left out; that they are there already
MACHINES = 5  # from as many a side on, a machine is one value
CONFIDENCE = 0.99
NO_DUCKDB = "DuckDB is not installed; one of these brings it: pip install duckdb; npm install -g @duckdb/node-bindings"


class Refused(Exception):
    """A sentence for the user."""


class Failed(Exception):
    """What DuckDB says of a statement."""


class Module:
    """By `import duckdb`."""

    def __init__(self, module):
        self.connection, self.error = module.connect(":memory:"), module.Error

    def rows(self, sql):
        try:
            found = self.connection.execute(sql)
            keys = [column[0] for column in found.description or ()]
            return [dict(zip(keys, row)) for row in found.fetchall()] if keys else []
        except self.error as error:
            raise Failed(str(error)) from error


class Library:
    """By libduckdb.so (duckdb.h)."""

    def __init__(self, library):
        self.library = library
        library.duckdb_value_varchar.restype = ctypes.c_void_p
        library.duckdb_value_varchar.argtypes = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
        library.duckdb_result_error.restype = ctypes.c_char_p
        database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        if library.duckdb_open(None, ctypes.byref(database)) or \
                library.duckdb_connect(database, ctypes.byref(self.connection)):
            raise Failed("DuckDB does not start")

    def rows(self, sql):
        result = (ctypes.c_uint64 * 6)()  # duckdb_result
        if sql.startswith(("SELECT", "WITH")):
            sql = f"SELECT to_json(list(r))::VARCHAR FROM ({sql}) r"
        try:
            if self.library.duckdb_query(self.connection, sql.encode(), result):
                raise Failed((self.library.duckdb_result_error(result) or b"").decode(errors="replace"))
            text = ctypes.c_void_p(self.library.duckdb_value_varchar(result, 0, 0) if "to_json" in sql else None)
            rows = json.loads(ctypes.string_at(text)) if text else []
            self.library.duckdb_free(text)
            return rows or []
        finally:
            self.library.duckdb_destroy_result(result)


def connect(spill):
    try:
        import duckdb  # pylint: disable=import-outside-toplevel
        con = Module(duckdb)
    except ImportError:
        folders = [*os.environ.get("NODE_PATH", "").split(":"), "/usr/local/lib/node_modules", "/usr/lib/node_modules"]
        for name in ["libduckdb.so", *(path for folder in folders if folder for path in sorted(
                glob.glob(f"{folder}/@duckdb/**/libduckdb.so", recursive=True)))]:
            with contextlib.suppress(OSError):  # none there, or for another machine
                con = Library(ctypes.CDLL(name))
                break
        else:
            raise Failed(NO_DUCKDB) from None
    for setting in ("memory_limit = '800MB'", f"temp_directory = {quoted(spill)}", "preserve_insertion_order = false",
                    "autoinstall_known_extensions = false"):
        con.rows(f"SET {setting}")
    with contextlib.suppress(Failed):  # which versions before 1.3 have not
        con.rows("SET enable_external_file_cache = false")
    return con


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def shown(text):
    """Without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def say(text):
    print(f"passtally fleet: {shown(text)}", file=sys.stderr)


def check_folder(db, make):
    """Refuses what is not a fleet's folder; makes one where there is nothing."""
    mark = db / "fleet.json"
    if not mark.is_file():
        if not make or (db.exists() and not db.is_dir()) or (db.is_dir() and any(db.iterdir())):
            raise Refused(f"{db} is not a fleet's folder: it has no fleet.json")
        db.mkdir(parents=True, exist_ok=True)
        mark.write_text(json.dumps(FORMAT) + "\n", encoding="utf-8")
    try:
        found = json.loads(mark.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if found != FORMAT:
        raise Refused(f"{mark} does not say {json.dumps(FORMAT)}: the folder is another program's, or another version's")


def values(db):
    """SQL for the table of what is there, or None."""
    if not any((db / "values").rglob("*.parquet")):
        return None
    return f"read_parquet({quoted(glob.escape(str(db)) + '/values/**/*.parquet')})"


def is_digest(path):
    """Whether it is one that DuckDB can read as it is; passtally knows what others are."""
    with open(path, "rb") as file:
        start = file.readline(1 << 20)
    try:
        header = json.loads(start)
    except ValueError:
        return False
    if not isinstance(header, dict) or header.get("type") != "header" or header.get("digest") is not True:
        return False
    if header.get("schema") != "passtally/1":
        raise Refused(f"a digest of schema {header.get('schema')}, not passtally/1")
    return True


def digest_of(passtally, path, made):
    """The path of a digest of it."""
    if is_digest(path):
        return path
    done = subprocess.run([passtally, "digest", "--force", "-o", made, "--", path], capture_output=True, check=False)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode == 2 and said and said[-1].endswith("is a digest already"):
        return path  # a compressed one
    if done.returncode:
        raise Refused(said[-1].replace("passtally digest: ", "") if said else f"passtally digest: status {done.returncode}")
    return made


# Of the files `files` the table new_values, and left_out with the files that add nothing. `known` has what is there.
INGEST = r"""
CREATE OR REPLACE TABLE line AS
SELECT * FROM read_json(getvariable('patterns'), format = 'newline_delimited', ignore_errors = true, filename = 'file',
	maximum_object_size = 67108864, columns = {
		type: 'VARCHAR', program: 'VARCHAR', started: 'TIMESTAMP', run: 'VARCHAR', host: 'VARCHAR',
		tags: 'MAP(VARCHAR, VARCHAR)', device: 'UINTEGER', name: 'VARCHAR', driver: 'VARCHAR', driver_version: 'VARCHAR',
		id: 'VARCHAR', kind: 'VARCHAR', label: 'VARCHAR', target: 'STRUCT(width UINTEGER, height UINTEGER, name VARCHAR, presented BOOLEAN)',
		statistics: 'STRUCT(device UINTEGER, id VARCHAR, "key" VARCHAR,
			n UBIGINT, min DOUBLE, max DOUBLE, mean DOUBLE, sd_sample DOUBLE, spread VARCHAR, spread_error DOUBLE)[]' });

CREATE OR REPLACE TABLE header AS
SELECT *, row_number() OVER (PARTITION BY run ORDER BY whole DESC, file) AS place
FROM (SELECT file, any_value(program) AS program, any_value(started) AS started, any_value(run) AS run,
		any_value(host) AS host, coalesce(any_value(tags), MAP {}) AS tags, bool_or(type = 'end') AS whole
	FROM line GROUP BY file HAVING bool_or(type = 'header'));

CREATE OR REPLACE TABLE stat AS
SELECT file, s.device::INTEGER AS device, s.id AS id, s."key" AS "key", s.n::BIGINT AS n, s.mean AS mean, s.sd_sample AS sd, s.min AS min,
	s.max AS max, s.spread AS spread, s.spread_error AS spread_error
FROM (SELECT file, unnest(statistics) AS s FROM line WHERE type = 'end') WHERE s.n > 0 AND isfinite(s.mean);

-- The value of that rank, to its spread_error.
CREATE OR REPLACE TABLE quantile AS
SELECT file, device, id, "key", min(value) FILTER (upto >= 0.5 * n) AS p50, min(value) FILTER (upto >= 0.95 * n) AS p95,
	min(value) FILTER (upto >= 0.99 * n) AS p99
FROM (SELECT *, sum(times) OVER (PARTITION BY file, device, id, "key" ORDER BY value) AS upto
	FROM (SELECT file, device, id, "key", n, split_part(b, ',', 3)::UBIGINT AS times,
			split_part(b, ',', 1)::DOUBLE * 2.0 ** split_part(b, ',', 2)::INTEGER AS value
		FROM (SELECT file, device, id, "key", n, unnest(string_split(spread, ' ')) AS b FROM stat
			WHERE ends_with("key", '_ns') AND spread <> '')))
GROUP BY ALL;

CREATE OR REPLACE TABLE new_values AS
WITH gpu AS (
	SELECT file, device::INTEGER AS device, last(name) AS gpu, coalesce(last(driver) || ' ' || last(driver_version), last(driver)) AS driver
	FROM line WHERE type = 'device' GROUP BY file, device
), frame AS (
	-- Of a surface that changed its size the mean of them, marked.
	SELECT file, device, max(n) FILTER ("key" = 'cpu_ns') AS frames,
		any_value(if(min = max, '', '~')) FILTER ("key" = 'width') || any_value(round(mean)::BIGINT) FILTER ("key" = 'width')
		|| 'x' || any_value(round(mean)::BIGINT) FILTER ("key" = 'height') AS size
	FROM stat WHERE id = '0000000000000000' GROUP BY file, device
), pass AS (
	SELECT file, id, coalesce(any_value(label), if(bool_or(target.presented), 'Backbuffer', concat_ws(' ',
		coalesce(any_value(target.name), any_value(kind)), any_value(target.width) || 'x' || any_value(target.height), left(id, 8)))) AS name
	FROM line WHERE type = 'pass_info' GROUP BY file, id
), named AS (
	SELECT h.run, h.started, h.host, regexp_replace(h.program, '^.*[/\\]', '') AS program, h.tags,
		coalesce(h.tags['build'], getvariable('build'), 'not said') AS build, coalesce(g.gpu, 'not said') AS gpu,
		coalesce(g.driver, 'not said') AS driver, coalesce(f.size, '') AS size, f.frames, device,
		if(id = '0000000000000000', '(frame)', coalesce(p.name, id)) AS name, stat.* EXCLUDE (file, device), p50, p95, p99,
		h.file
	FROM stat JOIN header h USING (file) LEFT JOIN gpu g USING (file, device) LEFT JOIN frame f USING (file, device)
		LEFT JOIN pass p USING (file, id) LEFT JOIN quantile USING (file, device, id, "key")
	WHERE h.whole AND h.place = 1 AND h.run IS NOT NULL AND h.started IS NOT NULL
)
SELECT *, strftime(started, '%Y-%m-%d') AS day, left(regexp_replace(build, '[^A-Za-z0-9.-]+', '_', 'g'), 80) AS in_build,
	left(regexp_replace(gpu, '[^A-Za-z0-9.-]+', '_', 'g'), 80) AS in_gpu
FROM named ANTI JOIN known USING (run, gpu);

CREATE OR REPLACE TABLE left_out AS
SELECT f.file, CASE WHEN h.file IS NULL OR h.started IS NULL THEN 'no header of a digest'
		WHEN NOT h.whole THEN 'a digest whose end is cut'
		WHEN h.run IS NULL THEN 'its run has no UUID, so it could count twice'
		WHEN h.place > 1 OR h.run IN (SELECT run FROM known) THEN 'there already'
		ELSE 'no values' END AS why
FROM (SELECT unnest(getvariable('files')) AS file) f LEFT JOIN header h USING (file)
WHERE f.file NOT IN (SELECT file FROM new_values)
"""


class Ingest:
    def __init__(self, db, passtally, build):
        self.db, self.passtally, self.build = db, passtally, build
        self.left_out, self.n_added, self.con = collections.Counter(), 0, None

    def leave_out(self, path, why):
        there = why == "there already"
        self.left_out[there] += 1
        if self.left_out[there] <= SHOWN[there]:
            say(f"left out {path}: {why}")

    def digests(self, paths, folder):
        """Of each file that has one, its digest: {digest: file}."""
        found = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [(path, pool.submit(digest_of, self.passtally, path, f"{folder}/{number}.jsonl"))
                    for number, path in enumerate(paths)]
            for path, job in jobs:
                try:
                    found[os.path.abspath(job.result())] = path
                except (Refused, OSError) as error:
                    self.leave_out(path, error.strerror if isinstance(error, OSError) else error)
        return found

    def add(self, digests, made):
        """Adds what is new in them. Where DuckDB cannot read them all, the file that it cannot is found and left out."""
        if not digests:
            return
        try:
            for name, escape in (("files", str), ("patterns", glob.escape)):
                self.con.rows(f"SET VARIABLE {name} = [{', '.join(quoted(escape(path)) for path in digests)}]")
            for statement in INGEST.split(";\n"):
                self.con.rows(statement)
        except Failed as error:
            if len(digests) == 1:
                self.leave_out(*digests.values(), str(error).partition("\n")[0])
                return
            pairs, half = list(digests.items()), len(digests) // 2
            self.add(dict(pairs[:half]), made)
            self.add(dict(pairs[half:]), made)
            return
        for row in self.con.rows("SELECT file, why FROM left_out ORDER BY file"):
            self.leave_out(digests[row["file"]], row["why"])
        self.con.rows(f"COPY (SELECT * EXCLUDE (file) FROM new_values) TO {quoted(made)} (FORMAT parquet, COMPRESSION zstd, "
                      "PARTITION_BY (day, in_build, in_gpu), FILENAME_PATTERN 'runs_{uuid}')")
        # Each file is whole: what a crash leaves out here is added by the next ingest.
        for path in sorted(made.rglob("*.parquet")):
            to = self.db / "values" / path.relative_to(made)
            to.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, to)
        self.n_added += self.con.rows("SELECT count(DISTINCT run) AS n FROM new_values")[0]["n"]
        self.con.rows("INSERT INTO known SELECT DISTINCT run, gpu FROM new_values")

    def run(self, paths):
        check_folder(self.db, True)
        with open(self.db / "fleet.json", encoding="utf-8") as lock, tempfile.TemporaryDirectory() as spill:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in self.db.glob("ingest-*"):  # of one that was killed
                shutil.rmtree(path)
            self.con = connect(spill)
            self.con.rows(f"SET VARIABLE build = {quoted(self.build) if self.build else 'NULL::VARCHAR'}")
            there = values(self.db)
            self.con.rows(f"CREATE TABLE known AS SELECT DISTINCT run, gpu FROM {there}" if there else
                          "CREATE TABLE known (run VARCHAR, gpu VARCHAR)")
            for begin in range(0, len(paths), BATCH):
                if begin and sys.stderr.isatty():
                    print(f"{begin} of {len(paths)} read", end="\r", file=sys.stderr, flush=True)
                with tempfile.TemporaryDirectory(prefix="ingest-", dir=self.db) as folder:
                    self.add(self.digests(paths[begin:begin + BATCH], folder), pathlib.Path(folder) / "made")
        print(f"{self.n_added} run{'s' * (self.n_added != 1)} added, {self.left_out[True]} there already, "
              f"{self.left_out[False]} file{'s' * (self.left_out[False] != 1)} left out")
        return 3 if self.left_out[False] else 0


def below(paths):
    """The files, and of folders the logs below them."""
    for path in paths:
        found = sorted(str(p) for p in pathlib.Path(path).rglob("*.jsonl*") if p.suffix in (".jsonl", ".zst"))
        yield from found if os.path.isdir(path) else [path]


# A row for each pass of each stratum: of the means of its runs, or of its machines, number, mean and variance, and those of the
# differences of machines that have both builds.
REGRESS = """WITH in_run AS (
	-- Passes of one name are added up. They share frames where together they have more than there are.
	SELECT build, run, device, host, gpu, driver, size, program, if("key" = 'cpu_ns', '(frame time)', name) AS name,
		array_to_string([k || '=' || coalesce(tags[k], '') FOR k IN getvariable('tags')], ' ') AS tags,
		sum(mean * n) / least(sum(n), max(coalesce(frames, n))) AS ns
	FROM value WHERE build IN (getvariable('base'), getvariable('new'))
		AND ("key" = 'gpu_ns' OR ("key" = 'cpu_ns' AND id = '0000000000000000'))
	GROUP BY ALL
), stratum AS (
	SELECT gpu, driver, size, program, tags,
		least(count(DISTINCT host) FILTER (build = getvariable('base')),
			count(DISTINCT host) FILTER (build = getvariable('new'))) >= getvariable('machines') AS many
	FROM in_run GROUP BY ALL
), sample AS (
	SELECT gpu, driver, size, program, tags, if(many, '', coalesce(host, '')) AS machine, name,
		if(many, coalesce(host, run), run || ' ' || device) AS unit,
		avg(ns) FILTER (build = getvariable('base')) AS base, avg(ns) FILTER (build = getvariable('new')) AS new
	FROM in_run JOIN stratum USING (gpu, driver, size, program, tags)
	GROUP BY ALL
)
SELECT gpu, driver, size, program, tags, machine, name,
	count(base) AS base_n, avg(base) AS base_ns, var_samp(base) AS base_var,
	count(new) AS new_n, avg(new) AS new_ns, var_samp(new) AS new_var,
	count(new - base) AS pairs, avg(base) FILTER (new IS NOT NULL) AS pairs_ns, avg(new - base) AS pairs_more, var_samp(new - base) AS pairs_var
FROM sample GROUP BY ALL
"""
STRATUM = ("gpu", "driver", "size", "program", "tags", "machine")


def beta_share(a, b, x):
    """The regularized incomplete beta function, by its continued fraction (Lentz)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    if x <= 0:
        return 0.0
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    product = d
    for m in range(1, 500):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + step * d), 1 + step / c
            product *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    return product * math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a


def chance(t, df):
    """Both tails of Student's distribution."""
    return beta_share(df / 2, 0.5, df / (df + t * t))


def test(row):
    """Welch's test, or Student's of pairs: adds p and the interval."""
    error, more, low, reach = row["error"], row["more_ns"], 0.0, 0.0
    row["p"] = chance(more / error, row["df"]) if error else float(more == 0)  # no spread at all: no doubt
    if error:
        reach = 1e3
        for _ in range(50):
            middle = (low + reach) / 2
            low, reach = (middle, reach) if chance(middle, row["df"]) > 1 - CONFIDENCE else (low, middle)
    for key, ns in (("more", more), ("low", more - reach * error), ("high", more + reach * error)):
        row[f"{key}_pct"] = 100 * ns / row["base_ns"]


def pool(rows):
    """What the strata of a pass have in common: their changes in shares of the base, each with the weight of its runs."""
    groups = collections.defaultdict(list)
    for row in rows:
        if "error" in row:
            groups[row["program"], row["name"]].append(row)
    for (program, name), found in groups.items():
        weights = [1 / (1 / row["base_n"] + 1 / row["new_n"]) for row in found]
        shares = [w / sum(weights) for w in weights]
        base_ns = sum(s * row["base_ns"] for s, row in zip(shares, found))
        parts = [(s * row["error"] / row["base_ns"]) ** 2 for s, row in zip(shares, found)]
        more = base_ns * sum(s * row["more_ns"] / row["base_ns"] for s, row in zip(shares, found))
        if len(found) > 1:
            yield {**dict.fromkeys(STRATUM, ""), "gpu": "(pooled)", "program": program, "name": name, "base_ns": base_ns,
                   "new_ns": base_ns + more, "more_ns": more, "base_n": sum(row["base_n"] for row in found),
                   "new_n": sum(row["new_n"] for row in found), "error": base_ns * math.sqrt(sum(parts)),
                   "df": sum(parts) ** 2 / sum(p * p / row["df"] for p, row in zip(parts, found) if p) if sum(parts) else 0}


def judge(rows):
    """Adds a verdict to each row; returns them with those of all strata."""
    sides = collections.defaultdict(set)
    for row in rows:
        sides[tuple(row[key] for key in STRATUM)].update(side for side in ("base", "new") if row[f"{side}_n"])
    for row in rows:
        here = sides[tuple(row[key] for key in STRATUM)]
        if len(here) == 1:
            row["verdict"] = f"no verdict: only the {'new' if 'new' in here else 'base'} build ran here"
        elif not row["base_n"] or not row["new_n"]:
            row["verdict"] = "vanished" if row["base_n"] else "appeared"
        elif row["base_n"] < 2 or row["new_n"] < 2 or not row["base_ns"]:
            row["verdict"] = "too few runs" if row["base_ns"] else "took no time"
        elif row["pairs"] >= MACHINES and row["pairs_ns"]:  # a machine beside itself says most
            row.update(base_n=row["pairs"], new_n=row["pairs"], base_ns=row["pairs_ns"], new_ns=row["pairs_ns"] + row["pairs_more"],
                       more_ns=row["pairs_more"], error=math.sqrt(row["pairs_var"] / row["pairs"]), df=row["pairs"] - 1)
        else:
            base, new = row["base_var"] / row["base_n"], row["new_var"] / row["new_n"]
            row.update(more_ns=row["new_ns"] - row["base_ns"], error=math.sqrt(base + new), df=0)
            if base + new > 0:
                row["df"] = (base + new) ** 2 / (base ** 2 / (row["base_n"] - 1) + new ** 2 / (row["new_n"] - 1))
    rows += pool(rows)
    tested = [row for row in rows if "error" in row]
    for row in tested:
        test(row)
    # The false discovery rate (Benjamini and Hochberg) over all passes and strata.
    q = 1.0
    for rank, row in reversed(list(enumerate(sorted(tested, key=lambda row: row["p"]), 1))):
        q = row["q"] = min(q, row["p"] * len(tested) / rank)
        row["verdict"] = "no change seen" if q >= 1 - CONFIDENCE else "slower" if row["more_ns"] > 0 else "faster"
    return sorted(rows, key=lambda row: (-abs(row.get("more_ns", 0)), row["name"], *(row[key] for key in STRATUM)))


def change(row):
    return f"{row['more_ns'] / 1e6:+.4g} ms ({row['more_pct']:+.2f} %, {100 * CONFIDENCE:g} %: {row['low_pct']:+.2f} % " \
           f"to {row['high_pct']:+.2f} %) " if "p" in row else ""


def place(row):
    return f"{row['name']} on " + ", ".join(row[key] for key in STRATUM if row[key])


def conclude(rows, limit):
    """The answer, and the exit status."""
    tested = [row for row in rows if "p" in row]
    if all(row["verdict"].startswith("no verdict") for row in rows):
        return "NOT COMPARED: no GPU, driver, size and tags that both builds ran on", 5
    if not tested:
        return "INCONCLUSIVE: nowhere did both builds run twice", 4 if limit is not None else 0
    changed = [row for row in tested if row["verdict"] in ("slower", "faster")]

    def first(found):
        """The largest change: of a pass, where that is half of the frame's."""
        best = next((row for row in found if row["name"][0] != "(" and 2 * abs(row["more_ns"]) >= abs(found[0]["more_ns"])), found[0])
        return change(best) + place(best)
    if limit is None:
        words = {row["verdict"].upper() for row in changed}
        if not words:
            return f"NO CHANGE SEEN; the largest difference: {first(tested)}", 0
        return f"{'MIXED' if len(words) > 1 else words.pop()}: {first(changed)}", 0
    failed = [row for row in changed if row["more_pct"] > limit]
    unclear = [row for row in tested if row["high_pct"] > limit]
    if failed:
        return f"REGRESSION: {len(failed)} above {limit:g} %, the largest {first(failed)}", 1
    if unclear:
        return f"INCONCLUSIVE: {len(unclear)} of {len(tested)} may be more than {limit:g} % slower, as {first(unclear)}", 4
    return f"OK: none of {len(tested)} is more than {limit:g} % slower", 0


def regress(db, base, new, by, fail_above, everything, as_json):
    check_folder(db, False)
    there = values(db)
    if not there:
        raise Refused(f"{db} has no runs: passtally fleet ingest adds them")
    try:
        limit = float(fail_above.rstrip("%")) if fail_above else None
    except ValueError:
        raise Refused(f"--fail-above {fail_above}: must be a number, as in 5%") from None
    with tempfile.TemporaryDirectory() as spill:
        con = connect(spill)
        con.rows(f"CREATE VIEW value AS SELECT * FROM {there}")
        tags = ", ".join(quoted(tag) for tag in by.split(",") if tag)
        for name, value in (("base", quoted(base)), ("new", quoted(new)), ("tags", f"[{tags}]::VARCHAR[]"), ("machines", MACHINES)):
            con.rows(f"SET VARIABLE {name} = {value}")
        rows = con.rows(REGRESS)
        for side, build in (("base", base), ("new", new)):
            if not any(row[f"{side}_n"] for row in rows):
                have = ", ".join(row["build"] for row in con.rows("SELECT DISTINCT build FROM value ORDER BY build LIMIT 20"))
                raise Refused(f"no run of the build {build} is here; there are: {have}")
    rows = judge(rows)
    answer, status = conclude(rows, limit)
    if as_json:
        keys = (*STRATUM, "name", "base_n", "new_n", "base_ns", "new_ns", "more_ns", "more_pct", "low_pct", "high_pct", "p", "q", "verdict")
        print(json.dumps({"schema": "passtally-fleet/1", "conclusion": re.split("[:;]", answer)[0],
                          "rows": [{key: row.get(key) for key in keys} for row in rows]}, indent=1))
        return status
    print(shown(answer))
    listed = [row for row in rows if everything or row["verdict"].endswith(("er", "ed"))]
    for row in listed:
        print(shown(f"  {row['verdict']:8} {change(row)}{place(row)}; runs: {row['base_n']}, {row['new_n']}"))
    if len(listed) < len(rows):
        alone = sum(row["verdict"].startswith("no verdict") for row in rows)
        print(f"  {len(rows) - len(listed)} others (--all)" + (f", of {alone} only one build ran there" if alone else ""))
    return status


def main(verb, db, passtally, build, base, new, by, fail_above, everything, as_json, *paths):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        if verb == "ingest":
            return Ingest(pathlib.Path(db), passtally, build).run(list(below(paths)))
        return regress(pathlib.Path(db), base, new, by, fail_above, everything, as_json)
    except (Refused, Failed, OSError) as error:
        say(error)
        return 2 if isinstance(error, Refused) else 125
    except KeyboardInterrupt:
        return 130


sys.exit(main(*sys.argv[1:]))
