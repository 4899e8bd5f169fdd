-- When the certificates were issued that weeks were saved with: one that is
-- older than another since used must not bring its week back, used or not.

ALTER TABLE schedule_certificates ADD COLUMN issued_at TEXT NOT NULL DEFAULT '';
