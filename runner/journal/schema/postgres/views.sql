-- The views of SQLite's views.sql, in PostgreSQL's words: the same columns. There
-- is no NUL in a text of PostgreSQL, so JSON is read without.

CREATE FUNCTION json_of(text) RETURNS json LANGUAGE sql IMMUTABLE STRICT AS
  $$SELECT replace($1, '\u0000', '\ufffd')::json$$;

CREATE FUNCTION time_of(bigint) RETURNS text LANGUAGE sql STABLE STRICT AS
  $$SELECT to_char(to_timestamp($1 / 1e9) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')$$;

-- The digest that stands for a long text.
CREATE FUNCTION digest_of(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS
  $$SELECT CASE WHEN $1 ~ '^#text:[0-9a-f]{40}$' THEN decode(substr($1, 7), 'hex') END$$;

CREATE VIEW entry AS
SELECT run.id AS run_id, run.cascade AS cascade_id, pack.run, pack.run << 32 | first + line - 1 AS id, time + (v ->> 2)::bigint AS time,
  CASE v ->> 0 WHEN 'v' THEN 'verdict' WHEN 'm' THEN 'effect:model' WHEN 'n' THEN 'effect:model' WHEN 'k' THEN 'effect:model' ELSE v ->> 0 END AS kind,
  pack.path || (v ->> 1) AS path,
  CASE WHEN v ->> 0 IN ('m', 'n', 'k') OR length(v ->> 0) > 1 THEN (v ->> 3)::bigint END AS took,
  CASE v ->> 0
    WHEN 'v' THEN json_build_object('verdict', json_build_object('phase', v -> 3, 'attempt', v -> 4, 'turn', v -> 5, 'moment', v -> 6,
      'validator', v -> 7, 'mode', v -> 8, 'valid', v -> 9, 'reason', v -> 10))
    WHEN 'm' THEN json_build_object('model', v -> 5, 'phase', v -> 6, 'attempt', v -> 7, 'turn', v -> 8,
      'response', json_build_object('text', v -> 9, 'model', v -> 10, 'finish', v -> 11, 'usage',
        json_build_object('model_calls', v -> 12, 'input_tokens', v -> 13, 'output_tokens', v -> 14, 'cost_usd', v -> 15)))
    WHEN 'n' THEN json_build_object('model', v -> 5, 'phase', v -> 6, 'attempt', v -> 7, 'turn', v -> 8, 'response', v -> 9)
    WHEN 'k' THEN json_build_object('model', v -> 5, 'phase', v -> 6, 'attempt', v -> 7, 'response', v -> 8)
    ELSE v -> 5 END AS data
FROM run JOIN pack ON pack.run = run.n, json_array_elements(json_of(pack.data)) WITH ORDINALITY AS e (v, line);

CREATE VIEW runs AS
SELECT id AS run_id, cascade AS cascade_id, file, status, time_of(started) AS started, time_of(finished) AS finished,
  (finished - started) / 1e9::double precision AS seconds,
  phases, events, calls AS model_calls, input_tokens, output_tokens, cost_usd,
  json_of(error) ->> 'code' AS error_code, json_of(error) ->> 'phase' AS error_phase, json_of(error) ->> 'message' AS error,
  nullif(parent, '') AS parent
FROM run;

CREATE VIEW phases AS
SELECT l.run_id, l.cascade_id, l.path, l.data ->> 'phase' AS phase, l.data ->> 'status' AS status,
  coalesce(t.text, l.data ->> 'output') AS output, time_of(l.time) AS finished
FROM (SELECT DISTINCT ON (run_id, path) * FROM entry WHERE kind = 'phase_finished' ORDER BY run_id, path, id DESC) l
LEFT JOIN text t ON t.digest = digest_of(l.data ->> 'output');

CREATE VIEW attempts AS
SELECT l.run_id, l.cascade_id, l.path, l.data ->> 'phase' AS phase,
  (l.data ->> 'attempt')::bigint AS attempt, l.data ->> 'status' AS status,
  coalesce(t.text, l.data ->> 'text', '') AS text, time_of(l.time) AS finished
FROM (SELECT DISTINCT ON (run_id, path) * FROM entry WHERE kind = 'attempt_finished' ORDER BY run_id, path, id DESC) l
LEFT JOIN text t ON t.digest = digest_of(l.data ->> 'text');

CREATE VIEW verdicts AS
SELECT l.run_id, l.cascade_id, l.path, v ->> 'phase' AS phase, (v ->> 'attempt')::bigint AS attempt,
  (v ->> 'turn')::bigint AS turn, v ->> 'moment' AS moment, v ->> 'validator' AS validator, v ->> 'mode' AS mode,
  (v ->> 'valid')::boolean AS valid, coalesce(t.text, v ->> 'reason') AS reason,
  (v ->> 'score')::double precision AS score, v ->> 'error' AS error, time_of(l.time) AS time
FROM (SELECT DISTINCT ON (run_id, path) *, data -> 'verdict' AS v FROM entry WHERE kind = 'verdict' ORDER BY run_id, path, id DESC) l
LEFT JOIN text t ON t.digest = digest_of(v ->> 'reason');

CREATE VIEW calls AS
SELECT l.run_id, l.cascade_id, l.path, l.data ->> 'phase' AS phase,
  coalesce((l.data ->> 'attempt')::bigint, 0) AS attempt, coalesce((l.data ->> 'turn')::bigint, 0) AS turn,
  l.data ->> 'validator' AS validator, l.data ->> 'role' AS role, coalesce(r ->> 'model', l.data ->> 'model') AS model,
  (u ->> 'model_calls')::bigint AS model_calls, (u ->> 'input_tokens')::bigint AS input_tokens,
  (u ->> 'output_tokens')::bigint AS output_tokens, (u ->> 'cost_usd')::double precision AS cost_usd,
  coalesce((u ->> 'cached_tokens')::bigint, 0) AS cached_tokens, coalesce((u ->> 'cache_write_tokens')::bigint, 0) AS cache_write_tokens,
  coalesce((u ->> 'reasoning_tokens')::bigint, 0) AS reasoning_tokens,
  coalesce((u ->> 'estimated')::boolean, false) AS estimated,
  r ->> 'finish' AS finish, r ->> 'provider' AS provider, l.took / 1e9::double precision AS seconds,
  r -> 'failure' ->> 'class' AS failure, time_of(l.time) AS time
FROM (SELECT *, data -> 'response' AS r, data -> 'response' -> 'usage' AS u FROM entry WHERE kind = 'effect:model') l;
