-- The tables of a journal in SQLite. The views for people follow.

-- One row per run, with the columns that lists show.
CREATE TABLE run (
  n             INTEGER PRIMARY KEY,        -- in the order in which runs began
  id            TEXT NOT NULL UNIQUE,
  cascade       TEXT NOT NULL,
  file          TEXT NOT NULL,
  parent        TEXT NOT NULL,
  only_phase    TEXT NOT NULL,              -- the only phase that the run did not take from its parent; '' for none
  started       INTEGER NOT NULL,           -- nanoseconds since 1970, as all times here
  status        TEXT NOT NULL,
  finished      INTEGER,
  phases        INTEGER NOT NULL DEFAULT 0, -- the run's end sets these six
  events        INTEGER NOT NULL DEFAULT 0,
  calls         INTEGER NOT NULL DEFAULT 0,
  input_tokens  INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd      REAL NOT NULL DEFAULT 0,
  error         TEXT,                       -- JSON: why the run did not succeed
  failed_paths  TEXT,                       -- the paths of the failures, one in each line, if the run failed
  owner         TEXT,                       -- JSON: the process that runs it
  pending       TEXT,                       -- JSON: the open questions
  epoch         INTEGER NOT NULL            -- each start of the run and each answer counts it up
);
CREATE INDEX run_parent ON run (parent) WHERE parent <> '';

-- The start of a run, and its result: JSON with a checksum (checksum.go).
CREATE TABLE start (run INTEGER PRIMARY KEY, data TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE result (run INTEGER PRIMARY KEY, data TEXT NOT NULL, sum INTEGER NOT NULL);

-- The events and effects of runs. A pack has the rows that a run wrote together.
CREATE TABLE pack (
  id    INTEGER PRIMARY KEY, -- run.n << 32 | the number of its last row in the run
  first INTEGER NOT NULL,    -- the number of its first row
  seq   INTEGER NOT NULL,    -- of the last event before it
  time  INTEGER NOT NULL,    -- of its first row
  epoch INTEGER NOT NULL,    -- of the start that wrote it
  path  TEXT NOT NULL,       -- the prefix of all its paths
  data  TEXT NOT NULL,       -- JSON: its rows, see shapes.go
  sum   INTEGER NOT NULL
);

-- Long texts, once each.
CREATE TABLE text (
  n      INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  text   TEXT NOT NULL
);

-- What a person did with a run. Prune may keep it for that: frozen, made a test.
CREATE TABLE mark (run INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (run, kind)) WITHOUT ROWID;

-- Texts of an engine of several machines (blobs.go). The time of the last put has a
-- table of its own, because a row with a long text is expensive to write again.
CREATE TABLE blob (digest TEXT NOT NULL PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE blob_time (digest TEXT NOT NULL PRIMARY KEY, at INTEGER NOT NULL);

-- The views that a person may query. If a resumed run came to a path twice, they show
-- the later row.

-- The rows of all runs, one for each, except requests. The letters are those of
-- shapes.go. The columns run_id and id are plain, so that a condition on them reaches the
-- indexes of the tables; a GROUP BY would prevent that.
CREATE VIEW entry AS
SELECT run.id AS run_id, run.cascade AS cascade_id, n AS run, n << 32 | first + key AS id, time + (value ->> 2) AS time,
  CASE substr(value, 3, 2)
    WHEN 'v"' THEN 'verdict' WHEN 'm"' THEN 'effect:model' WHEN 'n"' THEN 'effect:model' WHEN 'k"' THEN 'effect:model'
    ELSE value ->> 0 END AS kind,
  pack.path || (value ->> 1) AS path,
  CASE WHEN substr(value, 3, 2) IN ('m"', 'n"', 'k"') OR substr(value, 4, 1) <> '"' THEN value ->> 3 END AS took,
  CASE substr(value, 3, 2)
    WHEN 'v"' THEN json_object('verdict', json_object('phase', value -> 3, 'attempt', value -> 4, 'turn', value -> 5, 'moment', value -> 6,
      'validator', value -> 7, 'mode', value -> 8, 'valid', value -> 9, 'reason', value -> 10))
    WHEN 'm"' THEN json_object('model', value -> 5, 'phase', value -> 6, 'attempt', value -> 7, 'turn', value -> 8,
      'response', json_object('text', value -> 9, 'model', value -> 10, 'finish', value -> 11, 'usage',
        json_object('model_calls', value -> 12, 'input_tokens', value -> 13, 'output_tokens', value -> 14, 'cost_usd', value -> 15)))
    WHEN 'n"' THEN json_object('model', value -> 5, 'phase', value -> 6, 'attempt', value -> 7, 'turn', value -> 8, 'response', value -> 9)
    WHEN 'k"' THEN json_object('model', value -> 5, 'phase', value -> 6, 'attempt', value -> 7, 'response', value -> 8)
    ELSE value -> 5 END AS data
FROM run JOIN pack ON pack.id >= n << 32 AND pack.id < n + 1 << 32, json_each(pack.data);

CREATE VIEW runs AS
SELECT id AS run_id, cascade AS cascade_id, file, status,
  strftime('%Y-%m-%dT%H:%M:%fZ', started / 1e9, 'unixepoch') AS started,
  strftime('%Y-%m-%dT%H:%M:%fZ', finished / 1e9, 'unixepoch') AS finished,
  (finished - started) / 1e9 AS seconds,
  phases, events, calls AS model_calls, input_tokens, output_tokens, cost_usd,
  json_extract(error, '$.code') AS error_code, json_extract(error, '$.phase') AS error_phase,
  json_extract(error, '$.message') AS error, nullif(parent, '') AS parent, nullif(only_phase, '') AS only_phase
FROM run;

CREATE VIEW phases AS
SELECT l.run_id, l.cascade_id, l.path, json_extract(l.data, '$.phase') AS phase,
  json_extract(l.data, '$.status') AS status,
  coalesce(t.text, json_extract(l.data, '$.output')) AS output,
  strftime('%Y-%m-%dT%H:%M:%fZ', l.time / 1e9, 'unixepoch') AS finished
FROM (SELECT run_id, cascade_id, path, time, data, row_number() OVER (PARTITION BY run_id, path ORDER BY id DESC) AS later FROM entry WHERE kind = 'phase_finished') l
LEFT JOIN text t ON json_extract(l.data, '$.output') GLOB '#text:*' AND t.digest = unhex(substr(json_extract(l.data, '$.output'), 7))
WHERE later = 1;

CREATE VIEW attempts AS
SELECT l.run_id, l.cascade_id, l.path, json_extract(l.data, '$.phase') AS phase,
  json_extract(l.data, '$.attempt') AS attempt, json_extract(l.data, '$.status') AS status,
  coalesce(t.text, json_extract(l.data, '$.text'), '') AS text,
  strftime('%Y-%m-%dT%H:%M:%fZ', l.time / 1e9, 'unixepoch') AS finished
FROM (SELECT run_id, cascade_id, path, time, data, row_number() OVER (PARTITION BY run_id, path ORDER BY id DESC) AS later FROM entry WHERE kind = 'attempt_finished') l
LEFT JOIN text t ON json_extract(l.data, '$.text') GLOB '#text:*' AND t.digest = unhex(substr(json_extract(l.data, '$.text'), 7))
WHERE later = 1;

CREATE VIEW verdicts AS
SELECT l.run_id, l.cascade_id, l.path,
  json_extract(l.data, '$.verdict.phase') AS phase, json_extract(l.data, '$.verdict.attempt') AS attempt,
  json_extract(l.data, '$.verdict.turn') AS turn, json_extract(l.data, '$.verdict.moment') AS moment,
  json_extract(l.data, '$.verdict.validator') AS validator, json_extract(l.data, '$.verdict.mode') AS mode,
  json_extract(l.data, '$.verdict.valid') AS valid,
  coalesce(t.text, json_extract(l.data, '$.verdict.reason')) AS reason,
  json_extract(l.data, '$.verdict.score') AS score, json_extract(l.data, '$.verdict.error') AS error,
  strftime('%Y-%m-%dT%H:%M:%fZ', l.time / 1e9, 'unixepoch') AS time
FROM (SELECT run_id, cascade_id, path, time, data, row_number() OVER (PARTITION BY run_id, path ORDER BY id DESC) AS later FROM entry WHERE kind = 'verdict') l
LEFT JOIN text t ON json_extract(l.data, '$.verdict.reason') GLOB '#text:*' AND t.digest = unhex(substr(json_extract(l.data, '$.verdict.reason'), 7))
WHERE later = 1;

CREATE VIEW calls AS
SELECT l.run_id, l.cascade_id, l.path,
  json_extract(l.data, '$.phase') AS phase, coalesce(json_extract(l.data, '$.attempt'), 0) AS attempt,
  coalesce(json_extract(l.data, '$.turn'), 0) AS turn, json_extract(l.data, '$.validator') AS validator,
  json_extract(l.data, '$.role') AS role,
  coalesce(json_extract(l.data, '$.response.model'), json_extract(l.data, '$.model')) AS model,
  json_extract(l.data, '$.response.usage.model_calls') AS model_calls,
  json_extract(l.data, '$.response.usage.input_tokens') AS input_tokens,
  json_extract(l.data, '$.response.usage.output_tokens') AS output_tokens,
  json_extract(l.data, '$.response.usage.cost_usd') AS cost_usd,
  coalesce(json_extract(l.data, '$.response.usage.cached_tokens'), 0) AS cached_tokens,
  coalesce(json_extract(l.data, '$.response.usage.cache_write_tokens'), 0) AS cache_write_tokens,
  coalesce(json_extract(l.data, '$.response.usage.reasoning_tokens'), 0) AS reasoning_tokens,
  coalesce(json_extract(l.data, '$.response.usage.estimated'), 0) AS estimated,
  json_extract(l.data, '$.response.finish') AS finish, json_extract(l.data, '$.response.provider') AS provider,
  l.took / 1e9 AS seconds, json_extract(l.data, '$.response.failure.class') AS failure,
  strftime('%Y-%m-%dT%H:%M:%fZ', l.time / 1e9, 'unixepoch') AS time
FROM entry l
WHERE l.kind = 'effect:model';
