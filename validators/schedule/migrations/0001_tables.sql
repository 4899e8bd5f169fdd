-- The tables of the schedule gates, in the SQL that SQLite and PostgreSQL have
-- in common. Dates and times are ISO 8601 texts, times in UTC.

CREATE TABLE creators (
	creator_id TEXT NOT NULL PRIMARY KEY,
	page_name  TEXT,
	page_type  TEXT NOT NULL CHECK (page_type IN ('paid', 'free')),
	is_active  INTEGER NOT NULL DEFAULT 1,
	timezone   TEXT
);
CREATE INDEX creators_page_name ON creators (page_name);

CREATE TABLE content_types (
	content_type_id BIGINT NOT NULL PRIMARY KEY,
	type_name       TEXT NOT NULL UNIQUE
);

CREATE TABLE vault_matrix (
	creator_id         TEXT NOT NULL,
	content_type_id    BIGINT NOT NULL,
	has_content        INTEGER NOT NULL DEFAULT 0,
	quantity_available INTEGER,
	PRIMARY KEY (creator_id, content_type_id)
);

CREATE TABLE top_content_types (
	creator_id       TEXT NOT NULL,
	analysis_date    TEXT NOT NULL,
	content_type     TEXT NOT NULL,
	rank             INTEGER,
	performance_tier TEXT NOT NULL CHECK (performance_tier IN ('TOP', 'MID', 'LOW', 'AVOID')),
	total_earnings   DOUBLE PRECISION,
	average_earnings DOUBLE PRECISION
);
CREATE INDEX top_content_types_latest ON top_content_types (creator_id, analysis_date, content_type, performance_tier);

CREATE TABLE caption_bank (
	caption_id       BIGINT NOT NULL PRIMARY KEY,
	caption_text     TEXT NOT NULL,
	caption_type     TEXT,
	content_type_id  BIGINT,
	is_active        INTEGER NOT NULL DEFAULT 1,
	performance_tier TEXT
);
CREATE INDEX caption_bank_content ON caption_bank (content_type_id, is_active, caption_id);
CREATE INDEX caption_bank_type ON caption_bank (caption_type, content_type_id, is_active, caption_id);

CREATE TABLE caption_creator_performance (
	caption_id        BIGINT NOT NULL,
	creator_id        TEXT NOT NULL,
	last_used_date    TEXT,
	performance_score DOUBLE PRECISION,
	PRIMARY KEY (caption_id, creator_id)
);
CREATE INDEX caption_creator_performance_best ON caption_creator_performance (creator_id, performance_score DESC, caption_id);

CREATE TABLE creator_personas (
	creator_id   TEXT NOT NULL,
	persona_name TEXT,
	tone         TEXT
);
CREATE INDEX creator_personas_creator ON creator_personas (creator_id);

CREATE TABLE mass_messages (
	creator_id      TEXT NOT NULL,
	message_type    TEXT,
	price           DOUBLE PRECISION,
	sent_at         TEXT,
	earnings        DOUBLE PRECISION,
	content_type_id BIGINT
);
CREATE INDEX mass_messages_sent ON mass_messages (creator_id, sent_at);

CREATE TABLE send_types (
	send_type_key         TEXT NOT NULL PRIMARY KEY,
	category              TEXT NOT NULL,
	page_type_restriction TEXT,
	is_ppv                INTEGER NOT NULL DEFAULT 0
);

-- One row is one saved week; its items are replaced as a whole. revision
-- counts the saves.
CREATE TABLE schedule_templates (
	creator_id    TEXT NOT NULL,
	week_start    TEXT NOT NULL,
	revision      INTEGER NOT NULL,
	items         INTEGER NOT NULL,
	status        TEXT NOT NULL,
	quality_score DOUBLE PRECISION,
	schedule_hash TEXT NOT NULL,
	certificate   TEXT,
	saved_at      TEXT NOT NULL,
	PRIMARY KEY (creator_id, week_start)
);

CREATE TABLE schedule_items (
	creator_id     TEXT NOT NULL,
	week_start     TEXT NOT NULL,
	position       INTEGER NOT NULL,
	scheduled_date TEXT NOT NULL,
	scheduled_time TEXT NOT NULL,
	send_type_key  TEXT NOT NULL,
	content_type   TEXT,
	price          DOUBLE PRECISION,
	caption_id     BIGINT,
	item           TEXT NOT NULL,
	PRIMARY KEY (creator_id, week_start, position),
	FOREIGN KEY (creator_id, week_start) REFERENCES schedule_templates (creator_id, week_start)
);

CREATE TABLE schedule_settings (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);
INSERT INTO schedule_settings (name, value) VALUES ('gatekeeper_phase', '2');
