-- Who has the say of a run. Each start of a run counts the epoch up, as does a
-- person's answer, and nothing is written that carries an older one.
ALTER TABLE run ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

-- The epoch of the start that wrote a row. A process of an older capstan that
-- had the file open before this cannot write rows any more: it knows no epochs.
ALTER TABLE log ADD COLUMN epoch INTEGER;
