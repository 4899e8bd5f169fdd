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

// An Address describes a database and how to connect to it.
type Address struct {
	config *pgconn.Config
	schema string
	setup  string // statements that start every connection
}

// IsAddress reports whether s is an address and not the name of a file. It accepts the address of
// an unknown server too.
func IsAddress(s string) bool { return strings.Contains(s, "://") }

// defaultSchema is the schema of a journal's tables if the address has no search_path.
const defaultSchema = "capstan"

// Parse returns the address of a journal: postgres://user:password@host:port/database?key=value.
// Missing parts have the defaults of libpq: PGHOST, PGPASSWORD, ~/.pgpass and so on. Errors do
// not contain the password.
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
	// Every connection sets search_path after it is established. A pooler rejects or ignores such
	// a setting in the startup message.
	delete(config.RuntimeParams, "search_path")
	a.Set("search_path", Quoted(a.schema))
	a.Set("bytea_output", "hex") // the format that digests are decoded from, even if the database has another default
	config.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error { return pg.Exec(ctx, a.setup).Close() }
	config.BuildFrontend = pgproto3.NewFrontend
	return a, nil
}

// maxRow limits the size in bytes of one message from a database that is not ours, because a row
// is read whole.
const maxRow = 16 << 20

// ParseForeign parses an address like [Parse], but for a database without a journal. The address
// has no schema, and its sessions keep the server's settings.
func ParseForeign(s string) (*Address, error) {
	config, err := pgconn.ParseConfig(s)
	if err != nil || !strings.HasPrefix(s, "postgres://") && !strings.HasPrefix(s, "postgresql://") { // pgconn also accepts key=value
		return nil, errors.New("the address cannot be read: want postgres://user@host:port/database, the password in PGPASSWORD or ~/.pgpass") // an error of pgconn may quote the password
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

// Set adds a setting of the server to the start of every connection. The value is written in SQL.
// Set must be called before the first connection.
func (a *Address) Set(name, value string) { a.setup += "SET " + name + " = " + value + "; " }

// Schema returns the schema of the journal's tables, or "" if the database has no journal.
func (a *Address) Schema() string { return a.schema }

// Password returns the password of the address, or "".
func (a *Address) Password() string { return a.config.Password }

// String returns the address without the password.
func (a *Address) String() string {
	u := url.URL{Scheme: "postgres", User: url.User(a.config.User), Path: "/" + a.config.Database}
	if u.Host = fmt.Sprintf("%s:%d", a.config.Host, a.config.Port); strings.HasPrefix(a.config.Host, "/") {
		u.Host, u.RawQuery = "", "host="+a.config.Host
	}
	return u.String()
}

// Quoted returns a name as a quoted SQL identifier.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
