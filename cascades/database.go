package cascades

import (
	"cmp"
	"math"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/tool"
)

// databaseName matches the names of databases.
var databaseName = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// The limits of max_rows and the other keys of a database.
const (
	maxRows      = 100_000
	maxBytes     = 16 << 20
	maxStatement = 10 * time.Minute
)

// readDatabases reads the databases for sql_query.
func (p *parser) readDatabases(o *reader.Object) []tool.Database {
	defs := o.Child("databases")
	if p.databases = defs; defs == nil {
		return nil
	}
	var list []tool.Database
	for _, name := range defs.Order {
		if !databaseName().MatchString(name) {
			p.Error(defs.Keys[name], codes.Value, "%q cannot be the name of a database: 64 letters, digits, _ and -, the first a letter", name)
		}
		if one := p.Object(defs.Value[name], "a database"); one != nil {
			one.What = "database " + name
			list = append(list, p.database(one, name))
		}
	}
	return list
}

func (p *parser) database(o *reader.Object, name string) tool.Database {
	d := tool.Database{
		Name: name, Description: o.Text("description"), URL: o.Required("url"), Dir: path.Dir(p.File.Name), Writes: !o.Flag("read_only", true),
		MaxRows: o.Whole("max_rows", 1, tool.DefaultMaxRows), MaxBytes: o.Whole("max_bytes", 1, tool.DefaultMaxBytes), Timeout: o.Duration("timeout"),
	}
	if n := o.Get("url"); n != nil && d.URL != "" {
		p.ofVariables(n, "url", d.URL)
		kind, err := tool.Kind(d.URL)
		if file := tool.File(d.URL); err == nil && kind == tool.SQLite && p.known.Inside != nil && !strings.Contains(file, "{{") {
			err = p.known.Inside(p.beside(file))
		}
		if err != nil {
			p.Error(n, codes.Value, "%s: %v", o.What, err)
		} else if u, err := url.Parse(process.WithoutVariables(d.URL)); err == nil {
			if password, _ := u.User.Password(); password != "" {
				p.Warn(n, codes.Password, "%s: a password stands in the file, which runs keep: write it as {{ env.NAME }}, or leave it to PGPASSWORD or ~/.pgpass", o.What)
			}
		}
	}
	if d.MaxRows > maxRows {
		p.Error(o.Get("max_rows"), codes.Value, "max_rows must be at most %d", maxRows)
	}
	if d.MaxBytes > maxBytes {
		p.Error(o.Get("max_bytes"), codes.Value, "max_bytes must be at most %d", maxBytes)
	}
	if d.Timeout = cmp.Or(d.Timeout, tool.DefaultQueryTimeout); d.Timeout > maxStatement {
		p.Error(o.Get("timeout"), codes.Value, "timeout must be at most %s", maxStatement)
	}
	o.Done()
	return d
}

// overDatabases returns a tool that is bound to the databases of the file. over
// reports whether the tool needs databases. Without databases, it returns nil
// for such a tool.
func (p *parser) overDatabases(found tool.Tool) (t *Tool, over bool) {
	bound, over := found.Bind(p.cascade.Databases)
	if !over || len(p.cascade.Databases) == 0 {
		return nil, over
	}
	var urls []string
	for _, d := range p.cascade.Databases {
		urls = append(urls, "="+d.URL)
	}
	needs := []Need{{Position: p.Position(p.databases.Node), Variables: process.Needed(urls), Remote: bound}}
	return &Tool{
		Name: bound.Name, Description: bound.Description, Params: bound.Params(), Tool: bound, Effect: bound.Effect,
		MaxBytes: math.MaxInt, needs: needs,
	}, true
}

// asks notes the databases that a use of a tool may query: the one in its
// inputs, or else all.
func (p *parser) asks(t *Tool, inputs Values) {
	if t.Name != tool.SQLQuery {
		return
	}
	name, written := inputs["database"].(string)
	for _, d := range p.cascade.Databases {
		if !written || d.Name == name {
			p.asked[d.Name] = true
		}
	}
}
