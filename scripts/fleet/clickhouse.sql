-- SPDX-License-Identifier: MIT
-- Which passes got slower, by clickhouse local or a server: docs/fleet.md. Run it where before/ and after/ hold the logs.

-- Errors: the last line of a log that was cut.
SET input_format_skip_unknown_fields = 1, input_format_allow_errors_ratio = 1;

CREATE TABLE header ENGINE = MergeTree ORDER BY log AS
SELECT if(_path LIKE '%/before/%', 'base', 'new') AS side, _path AS log, run
FROM file('{before,after}/*.jsonl*', JSONEachRow, 'type String, schema String, run String')
WHERE type = 'header' AND schema = 'passtally/1';

CREATE TABLE device ENGINE = MergeTree ORDER BY (log, device) AS
SELECT _path AS log, device, anyLast(name) AS gpu, anyLast(driver || ' ' || driver_version) AS driver
FROM file('{before,after}/*.jsonl*', JSONEachRow,
	'type String, device UInt32, name String, driver String, driver_version String')
WHERE type = 'device' GROUP BY log, device;

CREATE TABLE pass_info ENGINE = MergeTree ORDER BY id AS
SELECT id, any(label) AS label
FROM file('{before,after}/*.jsonl*', JSONEachRow, 'type String, id String, label String')
WHERE type = 'pass_info' GROUP BY id;

CREATE TABLE frame ENGINE = MergeTree ORDER BY (log, device, frame) AS
SELECT _path AS log, device, frame, width, height, passes
FROM file('{before,after}/*.jsonl*', JSONEachRow,
	'type String, device UInt32, frame UInt64, width UInt32, height UInt32,
	 passes Array(Tuple(id String, segment UInt32, gpu_ns Nullable(UInt64)))')
WHERE type = 'frame' AND log IN (SELECT min(log) FROM header GROUP BY if(run = '', log, run));

SELECT gpu, driver, size, id, any(label) AS name, countIf(side = 'base') AS base_runs, countIf(side = 'new') AS new_runs,
	avgIf(ns, side = 'base') AS base_ns, avgIf(ns, side = 'new') AS new_ns,
	100 * (new_ns / base_ns - 1) AS more_pct,
	-100 * test.4 / base_ns AS low_pct, -100 * test.3 / base_ns AS high_pct, if(least(base_runs, new_runs) > 1, test.2, NULL) AS p,
	welchTTest(0.99)(ns, side = 'new') AS test -- t, p, the interval of base less new
FROM (
	SELECT log, device, id, avg(gpu_ns) AS ns
	FROM (
		SELECT log, device, frame, p.1 AS id, sum(p.3) AS gpu_ns
		FROM frame ARRAY JOIN passes AS p
		GROUP BY log, device, frame, id
		HAVING count(p.3) = count())
	GROUP BY log, device, id) AS run
JOIN header USING (log)
JOIN device USING (log, device)
JOIN (SELECT log, device, topK(1)(width || 'x' || height)[1] AS size FROM frame GROUP BY log, device) AS surface USING (log, device)
LEFT JOIN pass_info USING (id)
GROUP BY gpu, driver, size, id ORDER BY new_ns - base_ns DESC;
