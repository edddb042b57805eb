-- Logs of passtally into DuckDB: a table for each type of line, its fields the columns, as they stand.
--
-- `passes` is a list in a frame and a number in an end line, which loses it.
-- Before it runs: SET VARIABLE base_logs = ['...'] and new_logs = ['...'], lists of files or globs,
-- plain or .zst. Fields that a later version adds are passed over; the last line of a log that was
-- cut is left out. Whether a log is good tells `passtally check`, not this.
CREATE OR REPLACE TEMP MACRO log_lines(logs) AS TABLE
SELECT * FROM read_json(logs,
	format = 'newline_delimited', ignore_errors = true, filename = 'log', maximum_object_size = 67108864,
	columns = {
		type: 'VARCHAR',
		-- header
		schema: 'VARCHAR', version: 'VARCHAR', program: 'VARCHAR', argv: 'VARCHAR[]', pid: 'BIGINT',
		started: 'TIMESTAMP', options: 'MAP(VARCHAR, VARCHAR)', run: 'VARCHAR', tags: 'MAP(VARCHAR, VARCHAR)',
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

CREATE OR REPLACE TABLE header AS
SELECT side, log, schema, version, program, argv, pid, started, options, run, tags, os, kernel, cpu,
	cpus, memory_bytes, "session", host
FROM line WHERE type = 'header';
CREATE OR REPLACE TABLE device AS
SELECT side, log, device, api, name, driver, driver_version, vendor_id, device_id, driver_id, pci, uuid,
	serialized_by, sources, counters,
	metrics
FROM line WHERE type = 'device';
CREATE OR REPLACE TABLE pass_info AS
SELECT side, log, id, kind, label, target FROM line WHERE type = 'pass_info';
CREATE OR REPLACE TABLE frame AS
SELECT side, log, device, frame, start_ns, cpu_ns, gpu_ns, envelope_ns, coverage, width, height, "set", passes, overhead_ns,
	dropped_passes, flags, unattributed, metrics
FROM line WHERE type = 'frame';
CREATE OR REPLACE TABLE note AS
SELECT side, log, level, message, "source", time_ns FROM line WHERE type = 'note';
CREATE OR REPLACE TABLE "end" AS
SELECT side, log, frames, frames_dropped, reason, statistics, growth FROM line WHERE type = 'end';
DROP TABLE line;

-- A row for each pass of each frame, for queries.
CREATE OR REPLACE VIEW pass AS
SELECT side, log, device, frame, flags AS frame_flags, unnest(passes, recursive := false) AS p FROM frame;
