-- The certificates that weeks were saved with, while they are fresh: one whose
-- week has been saved with another since must not bring the old week back.

CREATE TABLE schedule_certificates (
	creator_id TEXT NOT NULL,
	week_start TEXT NOT NULL,
	hash       TEXT NOT NULL,
	used_at    TEXT NOT NULL,
	PRIMARY KEY (creator_id, week_start, hash)
);
