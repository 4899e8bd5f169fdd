package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/files"
)

// A DB is the database of creators, captions and schedules: a SQLite file or
// PostgreSQL. It is safe for concurrent use.
type DB struct {
	name        string // in errors: the file, or "(PostgreSQL)"
	read, write *pool  // the same pool for PostgreSQL
	postgres    bool
	before      func(statement string) error // for tests: called before each statement and commit
}

// A pool is a pool of connections with prepared statements.
type pool struct {
	*sql.DB
	pending  sync.Map // statements of SQLite to prepare before the next transaction; pgx caches its own
	prepared sync.Map // *sql.Stmt by text
}

// prepare prepares the statements that were used so far, because compiling a
// statement of SQLite takes longer than running it. It cannot be called within
// a transaction, because the writer has one connection. Errors are ignored,
// because the next use returns them.
func (p *pool) prepare(ctx context.Context) {
	for text := range p.pending.Range {
		p.pending.Delete(text)
		stmt, err := p.PrepareContext(ctx, text.(string))
		if err != nil {
			continue
		}
		if _, twice := p.prepared.LoadOrStore(text, stmt); twice {
			stmt.Close()
		}
	}
}

// Open opens a database that [Init] has created: a SQLite file by its path, or
// PostgreSQL by a DSN. A DSN begins with postgres:// or postgresql://, or is a
// list such as "host=… dbname=…". A missing file, or one without schedule
// tables, is an error.
func Open(dsn string) (*DB, error) {
	db, err := connect(dsn, false)
	if err != nil {
		return nil, err
	}
	version, err := db.version(context.Background())
	switch latest := len(migrationFiles()); {
	case err != nil:
	case version == 0:
		err = db.wrong(errors.New("there are no schedule tables yet; schedule init makes them"))
	case version < latest:
		err = db.wrong(fmt.Errorf("its tables have version %d: run schedule init, which only updates them to version %d", version, latest))
	case version > latest:
		err = db.newer(version)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// wrong returns an error of the database.
func (db *DB) wrong(err error) error { return fmt.Errorf("schedule database %s: %w", db.name, err) }

// Close closes the database's connections.
func (db *DB) Close() error {
	err := db.read.Close()
	if db.write != db.read {
		err = errors.Join(err, db.write.Close())
	}
	return err
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") ||
		strings.Contains(dsn, "=") && (strings.Contains(dsn, "dbname=") || strings.Contains(dsn, "host="))
}

// sqliteFile returns the file of a DSN for SQLite.
func sqliteFile(dsn string) string { return strings.TrimPrefix(dsn, "file:") }

func connect(dsn string, create bool) (*DB, error) {
	if isPostgres(dsn) {
		connections, err := sql.Open("pgx", dsn)
		if err != nil {
			return nil, errors.New("schedule database: the PostgreSQL DSN cannot be read") // the original error may contain the password
		}
		connections.SetMaxOpenConns(16)
		both := &pool{DB: connections}
		return &DB{name: "(PostgreSQL)", read: both, write: both, postgres: true}, nil
	}
	return connectSQLite(sqliteFile(dsn), create)
}

// connectSQLite opens one writing connection, so that writers of this process
// queue without polling the file, and several reading ones.
func connectSQLite(path string, create bool) (*DB, error) {
	if path == "" || path == ":memory:" {
		return nil, errors.New("schedule database: want the path of a SQLite file or a PostgreSQL DSN")
	}
	mode := "rw"
	if create {
		mode = "rwc"
	} else if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("schedule database %s: there is no such file; schedule init makes one", clip(path))
	} else if err != nil {
		return nil, fmt.Errorf("schedule database %s: %w", clip(path), err)
	}
	if err := files.OneName(path); err != nil {
		return nil, fmt.Errorf("schedule database: %w", err)
	}
	file := databases.File{Path: path, Mode: mode, Wait: 10 * time.Second, Options: []string{"_pragma=foreign_keys(1)", "_pragma=synchronous(NORMAL)"}}
	read, err := sql.Open("sqlite", file.Name()+"&_txlock=deferred")
	if err != nil {
		return nil, fmt.Errorf("schedule database %s: %w", clip(path), err)
	}
	write, err := sql.Open("sqlite", file.Name()+"&_txlock=immediate")
	if err != nil {
		read.Close()
		return nil, fmt.Errorf("schedule database %s: %w", clip(path), err)
	}
	write.SetMaxOpenConns(1)
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	return &DB{name: clip(path), read: &pool{DB: read}, write: &pool{DB: write}}, nil
}

// A tx is a transaction.
type tx struct {
	*sql.Tx
	db   *DB
	pool *pool
	ctx  context.Context
}

// statement returns the prepared statement of a text, or nil.
func (t tx) statement(text string) *sql.Stmt {
	if stmt, ok := t.pool.prepared.Load(text); ok {
		return t.StmtContext(t.ctx, stmt.(*sql.Stmt))
	}
	if !t.db.postgres {
		t.pool.pending.Store(text, true)
	}
	return nil
}

// reading runs body in one snapshot of the database.
func (db *DB) reading(ctx context.Context, body func(tx) error) error {
	var options *sql.TxOptions
	if db.postgres {
		options = &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	}
	return db.within(ctx, db.read, options, body)
}

// writing runs body in one transaction.
func (db *DB) writing(ctx context.Context, body func(tx) error) error {
	return db.within(ctx, db.write, nil, body)
}

func (db *DB) within(ctx context.Context, pool *pool, options *sql.TxOptions, body func(tx) error) error {
	if err := db.callBefore("begin"); err != nil {
		return err
	}
	pool.prepare(ctx)
	began, err := pool.BeginTx(ctx, options)
	if err != nil {
		return db.wrong(err)
	}
	defer func() { _ = began.Rollback() }() // has no effect after a commit
	if err := body(tx{began, db, pool, ctx}); err != nil {
		return err
	}
	if err := db.callBefore("commit"); err != nil {
		return err
	}
	if err := began.Commit(); err != nil {
		return db.wrong(err)
	}
	return nil
}

func (db *DB) callBefore(statement string) error {
	if db.before == nil {
		return nil
	}
	return db.before(statement)
}

// exec runs a statement; placeholders are $1, $2, … in both dialects.
func (t tx) exec(statement string, args ...any) error {
	err := t.db.callBefore(statement)
	if stmt := t.statement(statement); err == nil && stmt != nil {
		_, err = stmt.ExecContext(t.ctx, args...)
	} else if err == nil {
		_, err = t.ExecContext(t.ctx, statement, args...)
	}
	if err != nil {
		return t.db.wrong(err)
	}
	return nil
}

// each calls row for every row of a query. Errors contain what.
func (t tx) each(what, query string, args []any, row func(scan func(...any) error) error) error {
	if err := t.rows(query, args, row); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (t tx) rows(query string, args []any, row func(scan func(...any) error) error) error {
	if err := t.db.callBefore(query); err != nil {
		return t.db.wrong(err)
	}
	rows, err := t.query(query, args)
	if err != nil {
		return t.db.wrong(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return t.db.wrong(err)
		}
	}
	if err := rows.Err(); err != nil {
		return t.db.wrong(err)
	}
	return nil
}

func (t tx) query(query string, args []any) (*sql.Rows, error) {
	if stmt := t.statement(query); stmt != nil {
		return stmt.QueryContext(t.ctx, args...)
	}
	return t.QueryContext(t.ctx, query, args...)
}

// one scans the only row of a query and reports whether there was one.
func (t tx) one(query string, args []any, into ...any) (found bool, err error) {
	err = t.rows(query, args, func(scan func(...any) error) error {
		found = true
		return scan(into...)
	})
	return found, err
}
