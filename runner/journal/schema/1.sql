-- The tables of a journal. What a person may query are the views of views.sql.

-- One row per run, with what lists show.
CREATE TABLE run (
  n             INTEGER PRIMARY KEY,        -- in the order in which runs began
  id            TEXT NOT NULL UNIQUE,
  cascade       TEXT NOT NULL,
  file          TEXT NOT NULL,
  parent        TEXT NOT NULL,
  started       INTEGER NOT NULL,           -- nanoseconds since 1970, as all times here
  status        TEXT NOT NULL,
  finished      INTEGER,
  phases        INTEGER NOT NULL DEFAULT 0, -- these six are counted when it ends
  events        INTEGER NOT NULL DEFAULT 0,
  calls         INTEGER NOT NULL DEFAULT 0,
  input_tokens  INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd      REAL NOT NULL DEFAULT 0,
  error         TEXT,                       -- JSON: why it did not succeed
  broke         TEXT,                       -- the path of what broke, of a run that failed
  owner         TEXT,                       -- JSON: the process that runs it
  pending       TEXT                        -- JSON: the question it waits with
);

-- What a run began with, and what it came to: JSON.
CREATE TABLE start (run INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE result (run INTEGER PRIMARY KEY, data TEXT NOT NULL);

-- All that happened, a run's rows side by side: its events, its effects, and
-- where a process began to run it.
CREATE TABLE log (
  id    INTEGER PRIMARY KEY, -- run.n << 32, and the row's number in its run
  seq   INTEGER,             -- of an event
  time  INTEGER NOT NULL,
  kind  TEXT NOT NULL,       -- an event's; or effect:…, dropped, leg
  path  TEXT NOT NULL,
  took  INTEGER,             -- of an effect, nanoseconds
  print BLOB,                -- of a request: what tells it from another one
  data  TEXT                 -- JSON; of its long strings only "#text:" and the digest
);

-- Long texts, once each.
CREATE TABLE text (
  n      INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  text   TEXT NOT NULL
);
