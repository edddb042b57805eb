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
import statistics
import subprocess
import sys
import tempfile

FORMAT = '{"format": "passtally-fleet/1"}\n'
BATCH = 4000  # files that are read at once: bounds the memory
ENOUGH = 5  # runs a side to be compared, for fewer may all have been in one of two modes; machines a side to be one value each
CONFIDENCE = 0.99  # of the interval
FALSE_ALARMS = 0.001
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
    """Refuses what is not a fleet's folder of this version; makes one where there is nothing."""
    mark = db / "fleet.json"
    if make and not (any(db.iterdir()) if db.is_dir() else db.exists()):
        db.mkdir(parents=True, exist_ok=True)
        mark.write_text(FORMAT, encoding="utf-8")
    if not mark.is_file() or mark.read_bytes() != FORMAT.encode():
        raise Refused(f"{db} is not a fleet's folder of this version: it has no fleet.json that says {FORMAT.strip()}")


def values(db):
    """SQL for the table of what is there, or None."""
    if not any((db / "values").rglob("*.parquet")):
        return None
    return f"read_parquet({quoted(glob.escape(str(db)) + '/values/**/*.parquet')})"


def digest_of(passtally, path, made):
    """The path of a digest of it: its own, where DuckDB can read it as it is."""
    with open(path, "rb") as file:
        start = file.readline(1 << 20)
    if all(part in start for part in (b'"type":"header"', b'"schema":"passtally/1"', b'"digest":true')):
        return path
    done = subprocess.run([passtally, "digest", "--force", "-o", made, "--", path], capture_output=True, check=False)
    said = (done.stderr.decode(errors="replace").strip() or f"status {done.returncode}").splitlines()[-1]
    if done.returncode == 2 and said.endswith("is a digest already"):
        return path  # a compressed one
    if done.returncode:
        raise Refused(said.replace("passtally digest: ", ""))
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
		WHEN h.place > 1 OR h.run IN (SELECT run FROM known) THEN NULL
		ELSE 'no values' END AS why
FROM (SELECT unnest(getvariable('files')) AS file) f LEFT JOIN header h USING (file)
WHERE f.file NOT IN (SELECT file FROM new_values)
"""


class Ingest:
    def __init__(self, db, passtally):
        self.db, self.passtally, self.con = db, passtally, None
        self.n_added = self.n_there = self.n_left_out = self.n_unnamed = 0

    def leave_out(self, path, why):
        self.n_left_out += 1
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
            if row["why"]:
                self.leave_out(digests[row["file"]], row["why"])
            else:
                self.n_there += 1
        self.con.rows(f"COPY (SELECT * EXCLUDE (file) FROM new_values) TO {quoted(made)} (FORMAT parquet, COMPRESSION zstd, "
                      "PARTITION_BY (day, in_build, in_gpu), FILENAME_PATTERN 'runs_{uuid}')")
        # Each file is whole: what a crash leaves out here is added by the next ingest.
        for path in sorted(made.rglob("*.parquet")):
            to = self.db / "values" / path.relative_to(made)
            to.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, to)
        added = self.con.rows("SELECT count(DISTINCT run) AS n, count(DISTINCT run) FILTER (build = 'not said') AS unnamed FROM new_values")[0]
        self.n_added, self.n_unnamed = self.n_added + added["n"], self.n_unnamed + added["unnamed"]
        self.con.rows("INSERT INTO known SELECT DISTINCT run, gpu FROM new_values")

    def run(self, paths, build):
        check_folder(self.db, True)
        with open(self.db / "fleet.json", encoding="utf-8") as lock, tempfile.TemporaryDirectory() as spill:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in self.db.glob("ingest-*"):  # of one that was killed
                shutil.rmtree(path)
            self.con = connect(spill)
            self.con.rows(f"SET VARIABLE build = {quoted(build) if build else 'NULL::VARCHAR'}")
            there = values(self.db)
            self.con.rows(f"CREATE TABLE known AS SELECT DISTINCT run, gpu FROM {there}" if there else
                          "CREATE TABLE known (run VARCHAR, gpu VARCHAR)")
            for begin in range(0, len(paths), BATCH):
                if begin and sys.stderr.isatty():
                    print(f"{begin} of {len(paths)} read", end="\r", file=sys.stderr, flush=True)
                with tempfile.TemporaryDirectory(prefix="ingest-", dir=self.db) as folder:
                    self.add(self.digests(paths[begin:begin + BATCH], folder), pathlib.Path(folder) / "made")
        if self.n_unnamed:
            say(f"{self.n_unnamed} run{'s name' if self.n_unnamed > 1 else ' names'} no build, which regress needs: passtally run --tag build=NAME, or fleet ingest --build NAME")
        print(f"{self.n_added} run{'s' * (self.n_added != 1)} added, {self.n_there} there already, "
              f"{self.n_left_out} file{'s' * (self.n_left_out != 1)} left out")
        return 3 if self.n_left_out else 0


def below(paths):
    """The files, and of folders the logs below them."""
    for path in paths:
        found = sorted(str(p) for p in pathlib.Path(path).rglob("*.jsonl*") if p.suffix in (".jsonl", ".zst"))
        yield from found if os.path.isdir(path) else [path]


SAME = "gpu, driver, size, program, tags"
STRATUM = (*SAME.split(", "), "machine")
# A row for each pass of each stratum: the values of its runs, or of its machines, with the old and with the new build.
REGRESS = f"""WITH in_run AS (
	-- Passes of one name are added up. They share frames where together they have more than there are.
	SELECT build = getvariable('base') AS old, run, device, host, gpu, driver, size, program,
		if("key" = 'cpu_ns', '(frame time)', name) AS name,
		array_to_string([k || '=' || coalesce(tags[k], '') FOR k IN getvariable('tags')], ' ') AS tags,
		sum(mean * n) / least(sum(n), max(coalesce(frames, n))) AS ns
	FROM value WHERE build IN (getvariable('base'), getvariable('new'))
		AND ("key" = 'gpu_ns' OR ("key" = 'cpu_ns' AND id = '0000000000000000'))
	GROUP BY ALL
), counted AS (
	SELECT *, least(count(DISTINCT host) FILTER (old) OVER same, count(DISTINCT host) FILTER (NOT old) OVER same) >= {ENOUGH} AS many
	FROM in_run WINDOW same AS (PARTITION BY {SAME})
), sample AS (
	SELECT {SAME}, if(many, '', coalesce(host, '')) AS machine, name, if(many, coalesce(host, run), run || ' ' || device) AS unit,
		median(ns) FILTER (old) AS base, median(ns) FILTER (NOT old) AS new
	FROM counted GROUP BY ALL
)
SELECT {SAME}, machine, name, list([base, new]) AS pairs, count(base) AS base_n, count(new) AS new_n, median(base) AS base_ns,
	median(new) AS new_ns, max(count(base)) OVER here AS base_here, max(count(new)) OVER here AS new_here
FROM sample GROUP BY {SAME}, machine, name WINDOW here AS (PARTITION BY {SAME}, machine)
"""


def middle(values):
    """The mean without the extremes, its variance and degrees of freedom (Yuen). Of fewer than ten values, whose extremes may be
    one of two modes, nothing is cut."""
    values, cut = sorted(values), max(len(values) // 5 - 1, 0)
    left = values[cut:len(values) - cut]
    clamped = [min(max(value, left[0]), left[-1]) for value in values]
    mean = math.fsum(clamped) / len(clamped)
    variance = math.fsum((value - mean) ** 2 for value in clamped) / (len(left) * (len(left) - 1))
    return math.fsum(left) / len(left), variance, len(left) - 1


def compare(row, pairs):
    """Adds the change, in logarithms: a machine that takes ten times as long is slower by the same share."""
    pairs = [[ns and math.log(ns) for ns in pair] for pair in pairs]
    both = [pair for pair in pairs if None not in pair]
    if len(both) >= ENOUGH:  # a machine beside itself says most
        mean = middle([base for base, _ in both])[0]
        more, variance, df = middle([new - base for base, new in both])
        row.update(base_n=len(both), new_n=len(both))
    else:
        (mean, a, a_df), (new, b, b_df) = (middle([pair[i] for pair in pairs if pair[i] is not None]) for i in (0, 1))
        more, variance = new - mean, a + b
        df = variance ** 2 / (a ** 2 / a_df + b ** 2 / b_df) if variance else 1
    row.update(more=more, variance=variance, df=df, base_ns=math.exp(mean), new_ns=math.exp(mean + more))


def pool(rows):
    """What the strata of a pass have in common, each with the weight of its runs."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["program"], row["name"]].append(row)
    for (program, name), found in groups.items():
        if len(found) > 1:
            weights = [1 / (1 / row["base_n"] + 1 / row["new_n"]) for row in found]
            more, ns = (sum(w * row[key] for w, row in zip(weights, found)) / sum(weights) for key in ("more", "base_ns"))
            parts = [(w / sum(weights)) ** 2 * row["variance"] for w, row in zip(weights, found)]
            df = sum(parts) ** 2 / sum(p * p / row["df"] for p, row in zip(parts, found)) if sum(parts) else 1
            yield {**dict.fromkeys(STRATUM, ""), "gpu": "(pooled)", "program": program, "name": name, "more": more, "df": df,
                   "variance": sum(parts), "base_ns": ns, "new_ns": ns * math.exp(more),
                   **{side: sum(row[side] for row in found) for side in ("base_n", "new_n")}}


def test(row):
    """Adds p and the interval, by Student's distribution as Wallace approximates it: within 2 % from four degrees of freedom on."""
    df, error = row["df"], math.sqrt(row["variance"])
    scale = (8 * df + 1) / (8 * df + 3)
    row["p"] = float(row["more"] == 0)  # no spread at all: no doubt
    if error:
        row["p"] = math.erfc(scale * math.sqrt(df * math.log1p((row["more"] / error) ** 2 / df) / 2))
    reach = error * math.sqrt(df * math.expm1((statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2) / scale) ** 2 / df))
    row["more_ns"] = row["new_ns"] - row["base_ns"]
    for key, share in (("more", 0), ("low", -reach), ("high", reach)):
        row[f"{key}_pct"] = 100 * math.expm1(min(row["more"] + share, 100))


def judge(rows):
    """Adds a verdict to each row; returns them with those of all strata."""
    for row in rows:
        pairs = row.pop("pairs")
        if not row["base_here"] or not row["new_here"]:
            row["verdict"] = f"no verdict: only the {'base' if row['base_here'] else 'new'} build ran here"
        elif not row["base_n"] or not row["new_n"]:
            row["verdict"] = "vanished" if row["base_n"] else "appeared"
        elif min(row["base_n"], row["new_n"]) < ENOUGH:
            row["verdict"] = "too few runs"
        elif any(0 in pair for pair in pairs):
            row["verdict"] = "took no time"
        else:
            compare(row, pairs)
    rows += pool([row for row in rows if "more" in row])
    tested = [row for row in rows if "more" in row]
    for row in tested:
        test(row)
    # The false discovery rate (Benjamini and Hochberg) over all passes and strata.
    q = 1.0
    for rank, row in reversed(list(enumerate(sorted(tested, key=lambda row: row["p"]), 1))):
        q = row["q"] = min(q, row["p"] * len(tested) / rank)
        row["verdict"] = "no change seen" if q >= FALSE_ALARMS else "slower" if row["more"] > 0 else "faster"
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
        return f"INCONCLUSIVE: nowhere did both builds run {ENOUGH} times", 4 if limit is not None else 0
    changed = [row for row in tested if row["verdict"] in ("slower", "faster")]

    def first(found):
        """The largest change: of a pass, where that is half of the frame's."""
        best = next((row for row in found if row["name"][0] != "(" and 2 * abs(row["more_ns"]) >= abs(found[0]["more_ns"])), found[0])
        return change(best) + place(best)
    if limit is None and not changed:
        widest = max(tested, key=lambda row: row["high_pct"])
        return f"NO CHANGE SEEN: none of {len(tested)} is more than {widest['high_pct']:.3g} % slower; least sure: {place(widest)}", 0
    if limit is None:
        words = sorted({row["verdict"].upper() for row in changed})
        return f"{'MIXED' if len(words) > 1 else words[0]}: {first(changed)}", 0
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
        for name, value in (("base", quoted(base)), ("new", quoted(new)), ("tags", f"[{tags}]::VARCHAR[]")):
            con.rows(f"SET VARIABLE {name} = {value}")
        rows = con.rows(REGRESS)
        for side, build in (("base", base), ("new", new)):
            if not any(row[f"{side}_n"] for row in rows):
                have = ", ".join(row["build"].replace("not said", "(runs that name none)") for row in con.rows("SELECT DISTINCT build FROM value ORDER BY build LIMIT 20"))
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
            return Ingest(pathlib.Path(db), passtally).run(list(below(paths)), build)
        return regress(pathlib.Path(db), base, new, by, fail_above, everything, as_json)
    except (Refused, Failed, OSError) as error:
        say(error)
        return 2 if isinstance(error, Refused) else 125
    except KeyboardInterrupt:
        return 130


sys.exit(main(*sys.argv[1:]))
