-- SPDX-License-Identifier: MIT
-- Logs of passtally into DuckDB: a table for each type of line, its fields the columns, as they stand.
--
-- `passes` is a list in a frame and a number in an end line, which loses it.
-- Before it runs: SET VARIABLE base_logs = ['...'] and new_logs = ['...'], lists of files or globs,
-- plain or .zst. What is in the database already stays: logs are added to it, and a run that is there (by
-- `run` of its header, without one by the name of its file) is not added again. Files that are no logs of passtally/1
-- are listed in `left_out`. Fields that a later version adds are passed over; the last line of a log that was
-- cut is left out. Whether a log is good tells `passtally check`, not this.
SET memory_limit = '2GB';
SET preserve_insertion_order = false;
CREATE OR REPLACE TEMP MACRO log_lines(logs) AS TABLE
SELECT * FROM read_json(logs,
	format = 'newline_delimited', ignore_errors = true, filename = 'log', maximum_object_size = 67108864,
	columns = {
		type: 'VARCHAR',
		-- header
		schema: 'VARCHAR', version: 'VARCHAR', program: 'VARCHAR', argv: 'VARCHAR[]', pid: 'BIGINT',
		started: 'TIMESTAMP', options: 'MAP(VARCHAR, VARCHAR)',
		run: 'VARCHAR', tags: 'MAP(VARCHAR, VARCHAR)',
		os: 'VARCHAR', kernel: 'VARCHAR', cpu: 'VARCHAR', cpus: 'UINTEGER', memory_bytes: 'UBIGINT', "session": 'VARCHAR',
		host: 'VARCHAR',
		-- device
		device: 'UINTEGER', api: 'VARCHAR', name: 'VARCHAR', driver: 'VARCHAR', driver_version: 'VARCHAR',
		vendor_id: 'UINTEGER', device_id: 'UINTEGER', driver_id: 'UINTEGER', pci: 'VARCHAR', uuid: 'VARCHAR',
		serialized_by: 'VARCHAR',
		sources: 'STRUCT(name VARCHAR, state VARCHAR, reason VARCHAR)[]',
		-- device has a list here, frames have none
		counters: 'STRUCT(key VARCHAR, name VARCHAR, unit VARCHAR, kind VARCHAR, source VARCHAR, scope VARCHAR, description VARCHAR)[]',
		-- pass_info
		id: 'VARCHAR', kind: 'VARCHAR', label: 'VARCHAR', target: 'JSON',
		-- frame
		frame: 'UBIGINT', start_ns: 'UBIGINT', cpu_ns: 'UBIGINT', gpu_ns: 'UBIGINT', envelope_ns: 'UBIGINT',
		coverage: 'DOUBLE', width: 'UINTEGER', height: 'UINTEGER', "set": 'VARCHAR', overhead_ns: 'UBIGINT', dropped_passes: 'UBIGINT',
		flags: 'VARCHAR[]', unattributed: 'JSON',
		-- of a frame: key to value; of a device: what the keys mean
		metrics: 'JSON',
		passes: 'STRUCT("index" UINTEGER, id VARCHAR, segment UINTEGER, kind VARCHAR, label VARCHAR, draws UBIGINT, vertices UBIGINT, instances UBIGINT, dispatches UBIGINT, copies UBIGINT, clears UBIGINT, calls UBIGINT, cpu_start_ns UBIGINT, gpu_start_ns UBIGINT, gpu_ns UBIGINT, counters MAP(VARCHAR, DOUBLE), metrics MAP(VARCHAR, DOUBLE), estimated VARCHAR[], flags VARCHAR[])[]',
		-- note
		level: 'VARCHAR', message: 'VARCHAR', "source": 'VARCHAR', time_ns: 'UBIGINT',
		-- end
		frames: 'UBIGINT', frames_dropped: 'UBIGINT', reason: 'VARCHAR', statistics: 'JSON', growth: 'JSON'
	});

CREATE OR REPLACE TEMP TABLE line AS
SELECT 'base' AS side, * FROM log_lines(getvariable('base_logs'))
UNION ALL
SELECT 'new' AS side, * FROM log_lines(getvariable('new_logs'));

CREATE TABLE IF NOT EXISTS header (side VARCHAR, log VARCHAR, schema VARCHAR, version VARCHAR, program VARCHAR,
	argv VARCHAR[], pid BIGINT, started TIMESTAMP, options MAP(VARCHAR, VARCHAR), run VARCHAR, tags MAP(VARCHAR, VARCHAR),
	os VARCHAR, kernel VARCHAR, cpu VARCHAR, cpus UINTEGER, memory_bytes UBIGINT, "session" VARCHAR, host VARCHAR);

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

INSERT INTO header
SELECT side, log, schema, version, program, argv, pid, started, options, run, tags, os, kernel, cpu,
	cpus, memory_bytes, "session", host
FROM line WHERE type = 'header';
CREATE TABLE IF NOT EXISTS device AS
SELECT side, log, device, api, name, driver, driver_version, vendor_id, device_id, driver_id, pci, uuid,
	serialized_by, sources, counters, metrics
FROM line WHERE false;
INSERT INTO device
SELECT side, log, device, api, name, driver, driver_version, vendor_id, device_id, driver_id, pci, uuid,
	serialized_by, sources, counters, metrics
FROM line WHERE type = 'device';
CREATE TABLE IF NOT EXISTS pass_info AS
SELECT side, log, id, kind, label, target
FROM line WHERE false;
INSERT INTO pass_info
SELECT side, log, id, kind, label, target
FROM line WHERE type = 'pass_info';
CREATE TABLE IF NOT EXISTS frame AS
SELECT side, log, device, frame, width, height, start_ns, cpu_ns, gpu_ns, envelope_ns, coverage, "set", passes, overhead_ns,
	dropped_passes, flags, unattributed, metrics
FROM line WHERE false;
INSERT INTO frame
SELECT side, log, device, frame, width, height, start_ns, cpu_ns, gpu_ns, envelope_ns, coverage, "set", passes, overhead_ns,
	dropped_passes, flags, unattributed, metrics
FROM line WHERE type = 'frame';
CREATE TABLE IF NOT EXISTS note AS
SELECT side, log, level, message, "source", time_ns
FROM line WHERE false;
INSERT INTO note
SELECT side, log, level, message, "source", time_ns
FROM line WHERE type = 'note';
CREATE TABLE IF NOT EXISTS "end" AS
SELECT side, log, frames, frames_dropped, reason, statistics, growth
FROM line WHERE false;
INSERT INTO "end"
SELECT side, log, frames, frames_dropped, reason, statistics, growth
FROM line WHERE type = 'end';
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
