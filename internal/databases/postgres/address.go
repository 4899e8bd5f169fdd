package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// An Address is a database, and how one gets in.
type Address struct {
	config *pgconn.Config
	schema string
	setup  string // statements that every connection begins with
}

// IsAddress tells an address, also one of no server that is known here, from the
// name of a file.
func IsAddress(s string) bool { return strings.Contains(s, "://") }

// defaultSchema is the schema that a journal's tables are in, where the address
// names no other as its search_path.
const defaultSchema = "capstan"

// Parse reads the address of a journal: postgres://user:password@host:port/database?key=value.
// What it does not say is as libpq has it: PGHOST, PGPASSWORD, ~/.pgpass and so
// on. No error says the password.
func Parse(s string) (*Address, error) {
	a, err := ParseForeign(s)
	if err != nil {
		return nil, err
	}
	config := a.config
	a.schema = defaultSchema
	if path, ok := config.RuntimeParams["search_path"]; ok {
		first, _, _ := strings.Cut(path, ",")
		if a.schema = strings.Trim(strings.TrimSpace(first), `"`); a.schema == "" || strings.Contains(a.schema, "$") {
			return nil, errors.New("the search_path of the address has to name the schema of the journal")
		}
	}
	// What a connection begins with is set when it stands: a pooler refuses, or
	// passes over, what it is asked for before.
	delete(config.RuntimeParams, "search_path")
	a.Set("search_path", Quoted(a.schema))
	a.Set("bytea_output", "hex") // which is what digests are read as, whatever the database has for others
	config.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error { return pg.Exec(ctx, a.setup).Close() }
	config.BuildFrontend = pgproto3.NewFrontend
	return a, nil
}

// maxRow bounds what a database that is not ours sends at a time, in bytes: a row
// is read whole.
const maxRow = 16 << 20

// ParseForeign reads, as [Parse] does, the address of a database that is no
// journal: it is of no schema, and a session there has no settings of ours.
func ParseForeign(s string) (*Address, error) {
	config, err := pgconn.ParseConfig(s)
	if err != nil || !strings.HasPrefix(s, "postgres://") && !strings.HasPrefix(s, "postgresql://") { // else they are key=value to it
		return nil, errors.New("the address cannot be read: want postgres://user@host:port/database, the password in PGPASSWORD or ~/.pgpass") // pgconn's own words may quote it
	}
	config.RuntimeParams["client_encoding"] = "UTF8"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "capstan"
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxRow)
		return f
	}
	return &Address{config: config}, nil
}

// Set has every connection begin with a setting of the server, whose value is
// written as SQL has it. It is called before any connects.
func (a *Address) Set(name, value string) { a.setup += "SET " + name + " = " + value + "; " }

// Schema is the schema of the journal's tables, "" of what is no journal.
func (a *Address) Schema() string { return a.schema }

// Password is the password of the address, "" for none.
func (a *Address) Password() string { return a.config.Password }

// String is the address as it may be shown: without the password.
func (a *Address) String() string {
	u := url.URL{Scheme: "postgres", User: url.User(a.config.User), Path: "/" + a.config.Database}
	if u.Host = fmt.Sprintf("%s:%d", a.config.Host, a.config.Port); strings.HasPrefix(a.config.Host, "/") {
		u.Host, u.RawQuery = "", "host="+a.config.Host
	}
	return u.String()
}

// Quoted is a name as statements have it.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
