-- Rows as older capstans wrote them, one by one. Nobody adds to them any more: a
-- process of an older capstan that had the file open before this does not find
-- the table.
ALTER TABLE log RENAME TO line;

-- What a run had at hand at one time, in the order in which it was written.
CREATE TABLE pack (
  id    INTEGER PRIMARY KEY,
  run   INTEGER NOT NULL,
  last  INTEGER NOT NULL, -- the number of its last row in the run
  first INTEGER NOT NULL,
  seq   INTEGER NOT NULL, -- of the last event before it
  time  INTEGER NOT NULL, -- of its first row
  epoch INTEGER NOT NULL, -- of the start that wrote it
  path  TEXT NOT NULL,    -- what all its paths begin with
  data  TEXT NOT NULL     -- JSON: its rows, as shapes.go tells
);
CREATE UNIQUE INDEX pack_run ON pack (run, last);

-- What a person did with a run, by which prune may keep it: frozen, made a test.
CREATE TABLE mark (run INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (run, kind)) WITHOUT ROWID;
