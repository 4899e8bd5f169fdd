package cascades

import (
	"cmp"
	"math"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// databaseName is what a database may be called.
var databaseName = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// What a file may ask for at most.
const (
	maxRows      = 100_000
	maxBytes     = 16 << 20
	maxStatement = 10 * time.Minute
)

// readDatabases reads the databases that sql_query may ask.
func (p *parser) readDatabases(o *object) []tool.Database {
	defs := o.child("databases")
	if p.databases = defs; defs == nil {
		return nil
	}
	var list []tool.Database
	for _, name := range defs.order {
		if !databaseName().MatchString(name) {
			p.report(defs.keys[name], CodeValue, "%q cannot be the name of a database: 64 letters, digits, _ and -, the first a letter", name)
		}
		if one := p.object(defs.value[name], "a database"); one != nil {
			one.what = "database " + name
			list = append(list, p.database(one, name))
		}
	}
	return list
}

func (p *parser) database(o *object, name string) tool.Database {
	d := tool.Database{
		Name: name, Description: o.text("description"), URL: o.required("url"), Dir: path.Dir(p.file), Writes: !o.flag("read_only", true),
		MaxRows: o.whole("max_rows", 1, tool.DefaultMaxRows), MaxBytes: o.whole("max_bytes", 1, tool.DefaultMaxBytes), Timeout: o.duration("timeout"),
	}
	if n := o.get("url"); n != nil && d.URL != "" {
		p.ofVariables(n, "url", d.URL)
		kind, err := tool.Kind(d.URL)
		if file := tool.File(d.URL); err == nil && kind == tool.SQLite && p.known.Inside != nil && !strings.Contains(file, "{{") {
			err = p.known.Inside(p.beside(file))
		}
		if err != nil {
			p.report(n, CodeValue, "%s: %v", o.what, err)
		} else if u, err := url.Parse(process.Rest(d.URL)); err == nil {
			if password, _ := u.User.Password(); password != "" {
				p.warn(n, CodePlain, "%s: a password stands in the file, which runs keep: write it as {{ env.NAME }}, or leave it to PGPASSWORD or ~/.pgpass", o.what)
			}
		}
	}
	if d.MaxRows > maxRows {
		p.report(o.get("max_rows"), CodeValue, "max_rows must be at most %d", maxRows)
	}
	if d.MaxBytes > maxBytes {
		p.report(o.get("max_bytes"), CodeValue, "max_bytes must be at most %d", maxBytes)
	}
	if d.Timeout = cmp.Or(d.Timeout, tool.DefaultQuery); d.Timeout > maxStatement {
		p.report(o.get("timeout"), CodeValue, "timeout must be at most %s", maxStatement)
	}
	o.done()
	return d
}

// overDatabases binds a tool to the file's databases: over tells whether it is over
// any. Where the file names none there is no such tool.
func (p *parser) overDatabases(found tool.Tool) (t *Tool, over bool) {
	bound, over := found.Over(p.cascade.Databases)
	if !over || len(p.cascade.Databases) == 0 {
		return nil, over
	}
	var urls []string
	for _, d := range p.cascade.Databases {
		urls = append(urls, "="+d.URL)
	}
	needs := []Need{{Position: p.position(p.databases.node), Variables: process.Needed(urls), Remote: bound}}
	return &Tool{
		Name: bound.Name, Description: bound.Description, Params: bound.Params(), Tool: bound, Effect: bound.Effect,
		MaxBytes: math.MaxInt, needs: needs,
	}, true
}

// asks notes which databases a use of a tool asks: with inputs that name one that
// alone, else any.
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

// checkDatabases warns of databases that nothing of the file asks.
func (p *parser) checkDatabases() {
	for _, d := range p.cascade.Databases {
		if !p.asked[d.Name] {
			p.warn(p.databases.keys[d.Name], CodeUnasked, "no phase asks database %s: %s does, in its tackle or as its tool", d.Name, tool.SQLQuery)
		}
	}
}
