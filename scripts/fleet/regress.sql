-- Which passes got slower: GPU time of each pass, runs of the new side beside those of the base.
--
-- A run counts as one value, the mean over its frames, for the frames of a run are alike. The
-- interval is Welch's, at the confidence whose two-sided quantile of the normal distribution is
-- the variable `z` (2.576: 99 %); Student's quantile is taken from it by the expansion of Cornish and
-- Fisher, a hundredth too small at 4 degrees of freedom. No correction for the number of passes: what this
-- finds is for `passtally compare` to judge. The variable `warmup` leaves out the first frames.
WITH in_frame AS (
	-- The segments of a pass are one pass; one that lacks a time has none.
	SELECT side, log, device, frame, p.id AS id, sum(p.gpu_ns) AS gpu_ns
	FROM pass
	WHERE frame >= getvariable('warmup')
	GROUP BY side, log, device, frame, p.id
	HAVING count(p.gpu_ns) = count(*)
), in_run AS (
	SELECT side, log, id, avg(gpu_ns) AS gpu_ns
	FROM in_frame GROUP BY side, log, id
), sides AS (
	SELECT id,
		count(*) FILTER (side = 'base') AS base_runs, count(*) FILTER (side = 'new') AS new_runs,
		avg(gpu_ns) FILTER (side = 'base') AS base_ns, avg(gpu_ns) FILTER (side = 'new') AS new_ns,
		var_samp(gpu_ns) FILTER (side = 'base') / count(*) FILTER (side = 'base') AS base_error,
		var_samp(gpu_ns) FILTER (side = 'new') / count(*) FILTER (side = 'new') AS new_error
	FROM in_run GROUP BY id
), judged AS (
	SELECT *, new_ns - base_ns AS more_ns, sqrt(base_error + new_error) AS error,
		-- Both sides without any spread: nothing is uncertain.
		CASE WHEN base_error + new_error > 0 THEN
			(base_error + new_error) ** 2 /
			(base_error ** 2 / (base_runs - 1) + new_error ** 2 / (new_runs - 1)) END AS df,
		getvariable('z')::DOUBLE AS z
	FROM sides
), ranged AS (
	SELECT *, error * coalesce(z + (z ** 3 + z) / (4 * df)
			+ (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2)
			+ (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3), 0) AS reach
	FROM judged
)
SELECT id, label, base_runs, new_runs, base_ns, new_ns, more_ns,
	100 * more_ns / nullif(base_ns, 0) AS more_pct,
	100 * (more_ns - reach) / nullif(base_ns, 0) AS low_pct,
	100 * (more_ns + reach) / nullif(base_ns, 0) AS high_pct,
	CASE
		WHEN base_runs = 0 THEN 'appeared'
		WHEN new_runs = 0 THEN 'vanished'
		WHEN base_runs < 2 OR new_runs < 2 THEN 'too few runs'
		WHEN more_ns - reach > 0 THEN 'slower'
		WHEN more_ns + reach < 0 THEN 'faster'
		ELSE 'no change seen'
	END AS verdict
FROM ranged
LEFT JOIN (SELECT id, any_value(label) AS label FROM pass_info GROUP BY id) USING (id)
ORDER BY more_ns DESC NULLS LAST, id;
