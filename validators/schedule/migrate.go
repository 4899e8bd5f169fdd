package schedule

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Init creates the tables in a database, a SQLite file (which it creates) or
// PostgreSQL, and inserts the send types. In an existing database it adds
// missing tables and changes nothing else. With demo, it also inserts demo
// data. The gatekeeper of a new database is in phase 2.
func Init(ctx context.Context, dsn string, demo bool) error {
	db, err := connect(dsn, true)
	if err != nil {
		return err
	}
	if !db.postgres {
		// Readers do not wait for a writer; the mode is stored in the file.
		if _, err = db.write.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			err = db.wrong(err)
		}
	}
	if err == nil {
		err = db.migrate(ctx)
	}
	if err == nil && demo {
		err = seedDemo(ctx, db)
	}
	return errors.Join(err, db.Close())
}

// migrate applies the missing migrations in one transaction.
func (db *DB) migrate(ctx context.Context) error {
	return db.writing(ctx, func(t tx) error {
		if err := t.lockTables(); err != nil {
			return err
		}
		if err := t.exec("CREATE TABLE IF NOT EXISTS schedule_migrations (version INTEGER NOT NULL PRIMARY KEY)"); err != nil {
			return err
		}
		var at int
		if _, err := t.one("SELECT COALESCE(MAX(version), 0) FROM schedule_migrations", nil, &at); err != nil {
			return err
		}
		files := migrationFiles()
		if at > len(files) {
			return db.newer(at)
		}
		for i, name := range files[at:] {
			if err := t.apply(name, at+i+1); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
		}
		if err := t.ensureID(); err != nil {
			return err
		}
		return t.fillSendTypes()
	})
}

// lockTables waits for other processes that create or fill the same tables,
// because CREATE TABLE IF NOT EXISTS has races in PostgreSQL. SQLite has only
// one writer.
func (t tx) lockTables() error {
	if !t.db.postgres {
		return nil
	}
	return t.exec("SELECT pg_advisory_xact_lock(1903141)")
}

// migrationFiles returns the migrations in order; the n-th creates version n.
func migrationFiles() []string {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // our own pattern
	}
	return files
}

func (t tx) apply(name string, version int) error {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(string(text), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := t.exec(statement); err != nil {
			return err
		}
	}
	return t.exec("INSERT INTO schedule_migrations (version) VALUES ($1)", version)
}

func (t tx) fillSendTypes() error {
	for _, s := range everySendType() {
		ppv := 0
		if s.PPV {
			ppv = 1
		}
		err := t.exec(`INSERT INTO send_types (send_type_key, category, page_type_restriction, is_ppv) VALUES ($1, $2, $3, $4)
			ON CONFLICT (send_type_key) DO NOTHING`, s.Key, s.Category, optional(s.Page), ppv)
		if err != nil {
			return err
		}
	}
	return nil
}

// newer returns the error for tables of a newer Capstan.
func (db *DB) newer(version int) error {
	return db.wrong(fmt.Errorf("its tables have version %d, made by a newer Capstan; this one supports version %d",
		version, len(migrationFiles())))
}

// version returns the number of the last migration, or 0 without tables.
func (db *DB) version(ctx context.Context) (int, error) {
	known := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schedule_migrations'"
	if db.postgres {
		known = "SELECT CASE WHEN to_regclass('schedule_migrations') IS NULL THEN 0 ELSE 1 END"
	}
	var version int
	err := db.reading(ctx, func(t tx) error {
		var tables int
		if _, err := t.one(known, nil, &tables); err != nil || tables == 0 {
			return err
		}
		_, err := t.one("SELECT COALESCE(MAX(version), 0) FROM schedule_migrations", nil, &version)
		return err
	})
	return version, err
}
