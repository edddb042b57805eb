-- SPDX-License-Identifier: MIT
-- Logs of passtally into DuckDB: a table for each type of line, its fields the columns, as they stand.
--
-- `passes` is a list in a frame and a number in an end line, which loses it.
-- Before it runs: SET VARIABLE base_logs = ['...'] and new_logs = ['...'], lists of files or globs,
-- plain or .zst. What is in the database already stays: logs are added to it, and a run that is there (by
-- `run` of its header, without one by the name of its file) is not added again. Files that are no logs of passtally/1
-- are listed in `left_out`. Fields that a later version adds are passed over, tables of an earlier one get what they lack; the last line of a log that was
-- cut is left out. Whether a log is good tells `passtally check`, not this.
SET memory_limit = '2GB';
SET preserve_insertion_order = false;
CREATE OR REPLACE TEMP MACRO log_lines(logs) AS TABLE
SELECT * FROM read_json(logs,
	format = 'newline_delimited', ignore_errors = true, filename = 'log', maximum_object_size = 67108864,
	columns = {
		-- columns made from json/log.fields by scripts/gen_log.py sql
		type: 'VARCHAR',
		"schema": 'VARCHAR',
		"version": 'VARCHAR',
		"program": 'VARCHAR',
		"argv": 'VARCHAR[]',
		"pid": 'BIGINT',
		"started": 'TIMESTAMP',
		"options": 'MAP(VARCHAR, VARCHAR)',
		"process_start_ns": 'UBIGINT',
		"run": 'VARCHAR',
		"tags": 'MAP(VARCHAR, VARCHAR)',
		"os": 'VARCHAR',
		"kernel": 'VARCHAR',
		"cpu": 'VARCHAR',
		"cpus": 'UINTEGER',
		"memory_bytes": 'UBIGINT',
		"session": 'VARCHAR',
		"host": 'VARCHAR',
		"digest": 'BOOLEAN',
		"device": 'UINTEGER',
		"api": 'VARCHAR',
		"name": 'VARCHAR',
		"driver": 'VARCHAR',
		"driver_version": 'VARCHAR',
		"vendor_id": 'UINTEGER',
		"device_id": 'UINTEGER',
		"driver_id": 'UINTEGER',
		"pci": 'VARCHAR',
		"uuid": 'VARCHAR',
		"beneath": 'BIGINT',
		"serialized_by": 'VARCHAR',
		"present_mode": 'VARCHAR',
		"images": 'UINTEGER',
		"facts": 'VARCHAR[]',
		"sources": 'STRUCT("name" VARCHAR, "state" VARCHAR, "reason" VARCHAR)[]',
		"counters": 'STRUCT("key" VARCHAR, "name" VARCHAR, "unit" VARCHAR, "kind" VARCHAR, "source" VARCHAR, "scope" VARCHAR, "description" VARCHAR)[]',
		"sets": 'JSON',
		"metrics": 'JSON',
		"id": 'VARCHAR',
		"kind": 'VARCHAR',
		"label": 'VARCHAR',
		"target_name": 'VARCHAR',
		"target": 'JSON',
		"groups": 'VARCHAR',
		"stages": 'JSON',
		"frame": 'UBIGINT',
		"start_ns": 'UBIGINT',
		"cpu_ns": 'UBIGINT',
		"thread_ns": 'UBIGINT',
		"wait_ns": 'UBIGINT',
		"gpu_ns": 'UBIGINT',
		"envelope_ns": 'UBIGINT',
		"coverage": 'DOUBLE',
		"width": 'UINTEGER',
		"height": 'UINTEGER',
		"set": 'VARCHAR',
		"passes": 'STRUCT("index" UINTEGER, "id" VARCHAR, "segment" UINTEGER, "kind" VARCHAR, "label" VARCHAR, "draws" UBIGINT, "dispatches" UBIGINT, "copies" UBIGINT, "clears" UBIGINT, "vertices" UBIGINT, "instances" UBIGINT, "calls" UBIGINT, "context" BIGINT, "queue" VARCHAR, "submission" UBIGINT, "surface" BIGINT, "picture" UINTEGER, "cpu_start_ns" UBIGINT, "gpu_start_ns" UBIGINT, "gpu_ns" UBIGINT, "counters" MAP(VARCHAR, DOUBLE), "metrics" MAP(VARCHAR, DOUBLE), "estimated" VARCHAR[], "flags" VARCHAR[], "pipelines" JSON, "workloads" JSON)[]',
		"unattributed": 'JSON',
		"estimated": 'VARCHAR[]',
		"events": 'JSON',
		"calls": 'JSON',
		"minor_faults": 'UBIGINT',
		"major_faults": 'UBIGINT',
		"overhead_ns": 'UBIGINT',
		"dropped_passes": 'UBIGINT',
		"flags": 'VARCHAR[]',
		"time_ns": 'UBIGINT',
		"period_ns": 'UBIGINT',
		"resident_bytes": 'UBIGINT',
		"ready_ns": 'UBIGINT',
		"threads": 'JSON',
		"level": 'VARCHAR',
		"message": 'VARCHAR',
		"source": 'VARCHAR',
		"frames": 'UBIGINT',
		"frames_dropped": 'UBIGINT',
		"reason": 'VARCHAR',
		"growth": 'JSON',
		"statistics": 'JSON',
		-- end
	});

CREATE OR REPLACE TEMP TABLE line AS
SELECT 'base' AS side, * FROM log_lines(getvariable('base_logs'))
UNION ALL
SELECT 'new' AS side, * FROM log_lines(getvariable('new_logs'));

-- tables made from json/log.fields by scripts/gen_log.py sql
CREATE TABLE IF NOT EXISTS "header" (side VARCHAR, log VARCHAR);
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "schema" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "version" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "program" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "argv" VARCHAR[];
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "pid" BIGINT;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "started" TIMESTAMP;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "options" MAP(VARCHAR, VARCHAR);
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "process_start_ns" UBIGINT;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "run" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "tags" MAP(VARCHAR, VARCHAR);
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "os" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "kernel" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "cpu" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "cpus" UINTEGER;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "memory_bytes" UBIGINT;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "session" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "host" VARCHAR;
ALTER TABLE "header" ADD COLUMN IF NOT EXISTS "digest" BOOLEAN;
CREATE TABLE IF NOT EXISTS "device" (side VARCHAR, log VARCHAR);
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "device" UINTEGER;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "api" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "name" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "driver" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "driver_version" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "vendor_id" UINTEGER;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "device_id" UINTEGER;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "driver_id" UINTEGER;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "pci" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "uuid" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "beneath" BIGINT;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "serialized_by" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "present_mode" VARCHAR;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "images" UINTEGER;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "facts" VARCHAR[];
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "sources" STRUCT("name" VARCHAR, "state" VARCHAR, "reason" VARCHAR)[];
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "counters" STRUCT("key" VARCHAR, "name" VARCHAR, "unit" VARCHAR, "kind" VARCHAR, "source" VARCHAR, "scope" VARCHAR, "description" VARCHAR)[];
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "sets" JSON;
ALTER TABLE "device" ADD COLUMN IF NOT EXISTS "metrics" JSON;
CREATE TABLE IF NOT EXISTS "pass_info" (side VARCHAR, log VARCHAR);
ALTER TABLE "pass_info" ADD COLUMN IF NOT EXISTS "id" VARCHAR;
ALTER TABLE "pass_info" ADD COLUMN IF NOT EXISTS "kind" VARCHAR;
ALTER TABLE "pass_info" ADD COLUMN IF NOT EXISTS "label" VARCHAR;
ALTER TABLE "pass_info" ADD COLUMN IF NOT EXISTS "target_name" VARCHAR;
ALTER TABLE "pass_info" ADD COLUMN IF NOT EXISTS "target" JSON;
ALTER TABLE "pass_info" ADD COLUMN IF NOT EXISTS "groups" VARCHAR;
CREATE TABLE IF NOT EXISTS "pipeline" (side VARCHAR, log VARCHAR);
ALTER TABLE "pipeline" ADD COLUMN IF NOT EXISTS "id" VARCHAR;
ALTER TABLE "pipeline" ADD COLUMN IF NOT EXISTS "kind" VARCHAR;
ALTER TABLE "pipeline" ADD COLUMN IF NOT EXISTS "name" VARCHAR;
ALTER TABLE "pipeline" ADD COLUMN IF NOT EXISTS "stages" JSON;
CREATE TABLE IF NOT EXISTS "frame" (side VARCHAR, log VARCHAR);
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "frame" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "device" UINTEGER;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "start_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "cpu_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "thread_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "wait_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "gpu_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "envelope_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "coverage" DOUBLE;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "width" UINTEGER;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "height" UINTEGER;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "set" VARCHAR;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "passes" STRUCT("index" UINTEGER, "id" VARCHAR, "segment" UINTEGER, "kind" VARCHAR, "label" VARCHAR, "draws" UBIGINT, "dispatches" UBIGINT, "copies" UBIGINT, "clears" UBIGINT, "vertices" UBIGINT, "instances" UBIGINT, "calls" UBIGINT, "context" BIGINT, "queue" VARCHAR, "submission" UBIGINT, "surface" BIGINT, "picture" UINTEGER, "cpu_start_ns" UBIGINT, "gpu_start_ns" UBIGINT, "gpu_ns" UBIGINT, "counters" MAP(VARCHAR, DOUBLE), "metrics" MAP(VARCHAR, DOUBLE), "estimated" VARCHAR[], "flags" VARCHAR[], "pipelines" JSON, "workloads" JSON)[];
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "unattributed" JSON;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "metrics" JSON;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "estimated" VARCHAR[];
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "events" JSON;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "calls" JSON;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "minor_faults" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "major_faults" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "overhead_ns" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "dropped_passes" UBIGINT;
ALTER TABLE "frame" ADD COLUMN IF NOT EXISTS "flags" VARCHAR[];
CREATE TABLE IF NOT EXISTS "process" (side VARCHAR, log VARCHAR);
ALTER TABLE "process" ADD COLUMN IF NOT EXISTS "time_ns" UBIGINT;
ALTER TABLE "process" ADD COLUMN IF NOT EXISTS "period_ns" UBIGINT;
ALTER TABLE "process" ADD COLUMN IF NOT EXISTS "resident_bytes" UBIGINT;
ALTER TABLE "process" ADD COLUMN IF NOT EXISTS "ready_ns" UBIGINT;
ALTER TABLE "process" ADD COLUMN IF NOT EXISTS "threads" JSON;
CREATE TABLE IF NOT EXISTS "note" (side VARCHAR, log VARCHAR);
ALTER TABLE "note" ADD COLUMN IF NOT EXISTS "level" VARCHAR;
ALTER TABLE "note" ADD COLUMN IF NOT EXISTS "message" VARCHAR;
ALTER TABLE "note" ADD COLUMN IF NOT EXISTS "source" VARCHAR;
ALTER TABLE "note" ADD COLUMN IF NOT EXISTS "time_ns" UBIGINT;
CREATE TABLE IF NOT EXISTS "end" (side VARCHAR, log VARCHAR);
ALTER TABLE "end" ADD COLUMN IF NOT EXISTS "frames" UBIGINT;
ALTER TABLE "end" ADD COLUMN IF NOT EXISTS "frames_dropped" UBIGINT;
ALTER TABLE "end" ADD COLUMN IF NOT EXISTS "reason" VARCHAR;
ALTER TABLE "end" ADD COLUMN IF NOT EXISTS "growth" JSON;
ALTER TABLE "end" ADD COLUMN IF NOT EXISTS "statistics" JSON;
-- end

-- Of the files of a run that is there twice, the first.
CREATE OR REPLACE TEMP TABLE taken AS
SELECT side, log FROM (
	SELECT side, log, row_number() OVER (PARTITION BY coalesce(run, log) ORDER BY side, log) AS place
	FROM line
	WHERE type = 'header' AND schema = 'passtally/1' AND coalesce(run, log) NOT IN (SELECT coalesce(run, log) FROM header)
) WHERE place = 1;
CREATE OR REPLACE TABLE left_out AS
SELECT DISTINCT line.side, line.log, CASE
		WHEN h.log IS NULL THEN 'no header of a log of passtally'
		WHEN h.schema <> 'passtally/1' THEN 'schema ' || h.schema
		ELSE 'a run that is there already' END AS why
FROM line LEFT JOIN (SELECT DISTINCT side, log, schema FROM line WHERE type = 'header' AND schema IS NOT NULL) h
	ON h.log = line.log AND h.side = line.side
WHERE NOT EXISTS (SELECT 1 FROM taken t WHERE t.log = line.log AND t.side = line.side);
DELETE FROM line WHERE NOT EXISTS (SELECT 1 FROM taken t WHERE t.log = line.log AND t.side = line.side);

-- rows made from json/log.fields by scripts/gen_log.py sql
INSERT INTO "header" BY NAME SELECT side, log, "schema", "version", "program", "argv", "pid", "started", "options", "process_start_ns", "run", "tags", "os", "kernel", "cpu", "cpus", "memory_bytes", "session", "host", "digest" FROM line WHERE type = 'header';
INSERT INTO "device" BY NAME SELECT side, log, "device", "api", "name", "driver", "driver_version", "vendor_id", "device_id", "driver_id", "pci", "uuid", "beneath", "serialized_by", "present_mode", "images", "facts", "sources", "counters", "sets", "metrics" FROM line WHERE type = 'device';
INSERT INTO "pass_info" BY NAME SELECT side, log, "id", "kind", "label", "target_name", "target", "groups" FROM line WHERE type = 'pass_info';
INSERT INTO "pipeline" BY NAME SELECT side, log, "id", "kind", "name", "stages" FROM line WHERE type = 'pipeline';
INSERT INTO "frame" BY NAME SELECT side, log, "frame", "device", "start_ns", "cpu_ns", "thread_ns", "wait_ns", "gpu_ns", "envelope_ns", "coverage", "width", "height", "set", "passes", "unattributed", "metrics", "estimated", "events", "calls", "minor_faults", "major_faults", "overhead_ns", "dropped_passes", "flags" FROM line WHERE type = 'frame';
INSERT INTO "process" BY NAME SELECT side, log, "time_ns", "period_ns", "resident_bytes", "ready_ns", "threads" FROM line WHERE type = 'process';
INSERT INTO "note" BY NAME SELECT side, log, "level", "message", "source", "time_ns" FROM line WHERE type = 'note';
INSERT INTO "end" BY NAME SELECT side, log, "frames", "frames_dropped", "reason", "growth", "statistics" FROM line WHERE type = 'end';
-- end
DROP TABLE line;
DROP TABLE taken;

-- A row for each pass of each frame, for queries.
CREATE OR REPLACE VIEW pass AS
SELECT side, log, device, frame, flags AS frame_flags, unnest(passes, recursive := false) AS p FROM frame;

-- What a device of a run is compared within: the last of its lines counts.
CREATE OR REPLACE VIEW stratum AS
WITH size AS (
	SELECT side, log, device, mode(width || 'x' || height) AS size FROM frame GROUP BY side, log, device
), last AS (
	SELECT side, log, device, last(name) AS name, last(driver) AS driver, last(driver_version) AS driver_version
	FROM device GROUP BY side, log, device
)
SELECT size.side, size.log, size.device, coalesce(name, 'device not said') AS gpu,
	coalesce(driver || ' ' || driver_version, driver, 'driver not said') AS driver, coalesce(size, '') AS size, h.tags
FROM size LEFT JOIN last USING (side, log, device) LEFT JOIN header h USING (side, log);
