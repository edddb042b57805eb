-- SPDX-License-Identifier: MIT
-- Which passes got slower: GPU time of each pass, runs of the new side beside those of the base.
--
-- Compared are runs on the same GPU, driver and size of surface, and of the same values of the tags that the variable
-- `tags` names (['scene']); these are a stratum. A run counts as one value, the mean over its frames, for the frames of a run are
-- alike. The interval is Welch's, at the confidence whose two-sided quantile of the normal distribution is
-- the variable `z` (2.576: 99 %); Student's quantile is taken from it by the expansion of Cornish and
-- Fisher, a hundredth too small at 4 degrees of freedom. `q` is the false discovery rate (Benjamini and Hochberg) over all
-- passes and strata, p by Wallace's approximation of Student's distribution; the variable `fdr` is its limit. Rows of the gpu
-- `(pooled)` are the strata's effects, weighted by their precision. Where no stratum has both sides there
-- is no verdict. The variable `warmup` leaves out the first frames.
WITH in_frame AS (
	-- The segments of a pass are one pass; one that lacks a time has none.
	SELECT side, log, device, frame, p.id AS id, sum(p.gpu_ns) AS gpu_ns
	FROM pass
	WHERE frame >= getvariable('warmup')
	GROUP BY side, log, device, frame, p.id
	HAVING count(p.gpu_ns) = count(*)
), in_run AS (
	SELECT side, log, gpu, driver, size,
		array_to_string([key || '=' || coalesce(tags[key]::VARCHAR, '') FOR key IN coalesce(getvariable('tags')::VARCHAR[], [])], ' ') AS tags,
		id, avg(gpu_ns) AS gpu_ns
	FROM in_frame JOIN stratum USING (side, log, device)
	GROUP BY ALL
), sides AS (
	SELECT gpu, driver, size, tags, id,
		count(*) FILTER (side = 'base') AS base_runs, count(*) FILTER (side = 'new') AS new_runs,
		avg(gpu_ns) FILTER (side = 'base') AS base_ns, avg(gpu_ns) FILTER (side = 'new') AS new_ns,
		var_samp(gpu_ns) FILTER (side = 'base') / count(*) FILTER (side = 'base') AS base_error,
		var_samp(gpu_ns) FILTER (side = 'new') / count(*) FILTER (side = 'new') AS new_error
	FROM in_run GROUP BY gpu, driver, size, tags, id
), present AS (
	SELECT gpu, driver, size, tags, bool_or(base_runs > 0) AND bool_or(new_runs > 0) AS both_sides
	FROM sides GROUP BY gpu, driver, size, tags
), each_stratum AS (
	SELECT sides.*, both_sides, new_ns - base_ns AS more_ns, sqrt(base_error + new_error) AS error,
		-- Both sides without any spread: nothing is uncertain.
		CASE WHEN base_error + new_error > 0 THEN
			(base_error + new_error) ** 2 /
			(base_error ** 2 / (base_runs - 1) + new_error ** 2 / (new_runs - 1)) END AS df
	FROM sides JOIN present USING (gpu, driver, size, tags)
), pooled AS (
	-- Effects in shares of the base, so that a slow GPU does not count more.
	SELECT '(pooled)' AS gpu, '' AS driver, '' AS size, '' AS tags, id,
		sum(base_runs)::BIGINT AS base_runs, sum(new_runs)::BIGINT AS new_runs, avg(base_ns) AS base_ns,
		avg(base_ns) * (1 + sum(more_ns / base_ns * (base_ns / error) ** 2) / sum((base_ns / error) ** 2)) AS new_ns,
		NULL AS base_error, NULL AS new_error, true AS both_sides,
		avg(base_ns) * sum(more_ns / base_ns * (base_ns / error) ** 2) / sum((base_ns / error) ** 2) AS more_ns,
		avg(base_ns) / sqrt(sum((base_ns / error) ** 2)) AS error, sum(df) AS df
	FROM each_stratum
	WHERE base_runs > 1 AND new_runs > 1 AND error > 0 AND base_ns > 0
	GROUP BY id HAVING count(*) > 1
), tested AS (
	SELECT *, getvariable('z')::DOUBLE AS z,
		CASE WHEN base_runs > 1 AND new_runs > 1 THEN
			CASE WHEN error > 0 THEN (8 * df + 1) / (8 * df + 3) * sqrt(df * ln(1 + (more_ns / error) ** 2 / df))
			WHEN more_ns = 0 THEN 0 ELSE 40 END END AS normal
	FROM (SELECT * FROM each_stratum UNION ALL BY NAME SELECT * FROM pooled)
), ranged AS (
	SELECT *, error * coalesce(z + (z ** 3 + z) / (4 * df)
			+ (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2)
			+ (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3), 0) AS reach,
		-- Twice the upper tail of the normal distribution (Abramowitz and Stegun 26.2.17).
		CASE WHEN normal IS NOT NULL THEN least(1, 2 * exp(-(normal * normal) / 2) / sqrt(2 * pi()) *
			(0.319381530 * u - 0.356563782 * u ** 2 + 1.781477937 * u ** 3 - 1.821255978 * u ** 4
			+ 1.330274429 * u ** 5)) END AS p
	FROM (SELECT *, 1 / (1 + 0.2316419 * normal) AS u FROM tested)
), ranked AS (
	SELECT *, p * count(p) OVER () / row_number() OVER (ORDER BY p NULLS LAST) AS step FROM ranged
), judged AS (
	SELECT *, CASE WHEN p IS NOT NULL THEN
		least(1, min(step) OVER (ORDER BY p DESC NULLS FIRST, step ROWS UNBOUNDED PRECEDING)) END AS q
	FROM ranked
)
SELECT gpu, driver, size, tags, id,
	coalesce(label, kind || ' ' || left(id, 8)) AS name, label, base_runs, new_runs, base_ns, new_ns, more_ns,
	100 * more_ns / nullif(base_ns, 0) AS more_pct,
	100 * (more_ns - reach) / nullif(base_ns, 0) AS low_pct,
	100 * (more_ns + reach) / nullif(base_ns, 0) AS high_pct,
	q,
	CASE
		WHEN NOT both_sides THEN 'no verdict: only the ' || if(base_runs > 0, 'base', 'new') || ' ran on this'
		WHEN base_runs = 0 THEN 'appeared'
		WHEN new_runs = 0 THEN 'vanished'
		WHEN base_runs < 2 OR new_runs < 2 THEN 'too few runs'
		WHEN q < coalesce(getvariable('fdr'), 0.01) AND more_ns > 0 THEN 'slower'
		WHEN q < coalesce(getvariable('fdr'), 0.01) AND more_ns < 0 THEN 'faster'
		ELSE 'no change seen'
	END AS verdict
FROM judged
LEFT JOIN (SELECT id, any_value(label) AS label, any_value(kind) AS kind FROM pass_info GROUP BY id) USING (id)
ORDER BY gpu = '(pooled)' DESC, more_ns DESC NULLS LAST, gpu, driver, size, tags, id;
