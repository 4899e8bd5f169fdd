package cascades

import (
	"cmp"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// server reads the mapping under mcp. It contains a command or a URL, and the name of the
// tool.
func (p *parser) server(o *reader.Object) (s Server, name string, ok bool) {
	m := o.Child("mcp")
	if m == nil {
		return s, "", false
	}
	before := len(p.Found)
	name = m.Required("tool")
	s.URL = m.Text("url")
	if m.Has("command") {
		s.Command, s.Dir = m.Texts("command"), path.Dir(p.File.Name)
		p.starts(Program{What: "an MCP server", Argv: s.Command, Dir: s.Dir})
	}
	s.Env, s.Headers = p.environment(m), p.headers(m)
	switch command := len(s.Command) > 0 && s.Command[0] != ""; {
	case command && s.URL != "":
		m.Conflict("url", "mcp has both command and url")
	case !command && s.URL == "":
		p.Error(m.Node, codes.Missing, "mcp needs a command or a url")
	case command && m.Has("headers"):
		m.Conflict("headers", "a server that is a command has no headers: env is what it sees")
	case !command && m.Has("env"):
		m.Conflict("env", "a server with a url sees nothing of the environment: headers are what it is sent")
	case p.known.Remote == nil:
		p.Error(m.Node, codes.Conflict, "MCP servers cannot be reached from here")
	}
	m.Done()
	return s, name, len(p.Found) == before
}

func (p *parser) mcpForm(o *reader.Object) *Validator {
	with := p.values(o.Child("with"), checkVariables)
	p.refuseEnv(o)
	s, name, ok := p.server(o)
	if !ok {
		return nil
	}
	found := p.known.Remote.Validator(s, name)
	v := &Validator{Name: found.Name, Description: found.Description, With: with, Bind: found.Bind}
	v.needs = p.remoteNeeds(o, s, name)
	return v
}

func (p *parser) mcpTool(o *reader.Object, t *Tool) {
	s, name, ok := p.server(o)
	if !ok {
		return
	}
	t.Tool = p.known.Remote.Tool(s, name)
	t.needs, t.remote, t.Params = p.remoteNeeds(o, s, name), true, nil
}

// refuseEnv reports an env key next to mcp. The key belongs into the mapping under mcp.
func (p *parser) refuseEnv(o *reader.Object) {
	o.Without("env")
	o.Conflict("env", "what an MCP server sees stands within mcp")
}

// remoteNeeds returns the requirements of a tool of an MCP server.
func (p *parser) remoteNeeds(o *reader.Object, s Server, name string) []Need {
	texts := slices.Concat(s.Env, entries(s.Headers))
	return []Need{{Position: p.Position(o.Keys["mcp"]), Variables: process.Needed(texts), Remote: p.known.Remote.Tool(s, name)}}
}

// databaseName matches the allowed names of databases.
var databaseName = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// The limits of max_rows and the other keys of a database.
const (
	maxRows      = 100_000
	maxBytes     = 16 << 20
	maxStatement = 10 * time.Minute
)

// readDatabases reads the databases that sql_query can use.
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
		p.onlyVariables(n, "url", d.URL)
		kind, err := tool.Kind(d.URL)
		if file := tool.File(d.URL); err == nil && kind == tool.SQLite && p.known.Inside != nil && !strings.Contains(file, "{{") {
			err = p.known.Inside(p.beside(file))
		}
		if err != nil {
			p.Error(n, codes.Value, "%s: %v", o.What, err)
		} else if u, err := url.Parse(process.WithoutVariables(d.URL)); err == nil {
			if password, _ := u.User.Password(); password != "" {
				p.Warn(n, codes.Password,
					"%s: a password stands in the file, which runs keep: write it as {{ env.NAME }}, or leave it to PGPASSWORD or ~/.pgpass", o.What)
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

// overDatabases returns a tool that is bound to the databases of the file. over reports
// whether the tool needs databases. If the file has no databases, t is nil.
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

// asks records the databases that a tool may query. It is the database in the inputs, or every
// database if the inputs name none.
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

// providerName matches the name of a provider. In the name of a model, it precedes the colon.
var providerName = patterns.Lazy(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// readProviders reads the providers of the file.
func (p *parser) readProviders(o *reader.Object) []model.Provider {
	defs := o.Child("providers")
	if p.defined = defs; defs == nil {
		return nil
	}
	var list []model.Provider
	for _, name := range defs.Order {
		p.providers = append(p.providers, name)
		switch {
		case name == "scripted" || name == "replay":
			p.Error(defs.Keys[name], codes.Conflict, "%s: names models that need no provider", name)
		case !providerName().MatchString(name):
			p.Error(defs.Keys[name], codes.Value, "%q cannot be the name of a provider: letters, digits, _ . and -", name)
		}
		if one := p.Object(defs.Value[name], "a provider"); one != nil {
			one.What = "provider " + name
			list = append(list, p.provider(one, name))
		}
	}
	return list
}

// protocols maps the values of api to those of [model.Provider].
var protocols = map[string]string{"chat": "", "messages": "messages", "responses": "responses"}

// provider reads a provider. If it has the name of a built-in provider and no base_url, it
// changes the built-in provider.
func (p *parser) provider(o *reader.Object, name string) model.Provider {
	made, builtin := model.Builtin(name)
	if !builtin || o.Has("base_url") {
		made = model.Provider{Name: name, BaseURL: o.Required("base_url")}
	}
	made.KeyEnv = cmp.Or(o.Text("key_env"), made.KeyEnv)
	if o.Has("api") {
		made.API = protocols[o.OneOf("api", "chat", "messages", "responses")]
	}
	u, err := url.Parse(made.BaseURL)
	switch {
	case made.BaseURL == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		p.Error(o.Get("base_url"), codes.Value, "base_url must begin with http:// or https:// and a host, as http://127.0.0.1:8000/v1 does")
	case u.User != nil || u.Fragment != "":
		p.Error(o.Get("base_url"), codes.Value, "base_url may not have a user or a fragment: key_env names the variable of a key")
	}
	if made.KeyEnv != "" && !variableName().MatchString(made.KeyEnv) {
		p.Error(o.Get("key_env"), codes.Value, "key_env must be the name of a variable of the environment, not its value")
	}
	if headers := p.headers(o); headers != nil {
		made.Headers = headers
	}
	made.Prices = p.prices(o.Child("prices"))
	made.Finish = o.Texts("finish")
	made.Limits = model.Limits{
		RequestsPerMinute: o.Whole("requests_per_minute", 1, 0), Concurrency: o.Whole("concurrency", 1, 0),
		Timeout: o.Duration("timeout"), Tries: o.Whole("tries", 1, 0),
	}
	o.Done()
	return made
}

func (p *parser) prices(o *reader.Object) model.Prices {
	if o == nil {
		return nil
	}
	all := model.Prices{}
	for _, name := range o.Order {
		one := p.Object(o.Value[name], "a price")
		if one == nil {
			continue
		}
		one.What = "the price of " + name
		const most = 1e6 // dollars per million tokens
		usd := map[string]float64{}
		for _, key := range []string{"input", "output"} {
			if f := one.Between(key, 0, most); f != nil {
				usd[key] = *f
			}
		}
		one.Needs("input", "output")
		all[name] = model.Price{
			Input: usd["input"], Output: usd["output"],
			Cached: one.Between("cached", 0, most), CacheWrite: one.Between("cache_write", 0, most),
		}
		one.Done()
	}
	return all
}

// providerOf returns the provider of a model, and the name of the model without the provider.
// The providers in own have priority over the built-in providers.
func providerOf(own []model.Provider, name string) (p model.Provider, bare string) {
	var names []string
	for _, one := range own {
		names = append(names, one.Name)
	}
	provider, bare, _ := model.SplitName(name, names...) // an invalid name has no provider
	if i := slices.Index(names, provider); i >= 0 {
		return own[i], bare
	}
	p, _ = model.Builtin(provider)
	return p, bare
}

// EveryProvider returns the providers of the cascade and of nested cascades. If several files
// define a provider, its strictest limits apply.
func (c *Cascade) EveryProvider() []model.Provider {
	var list []model.Provider
	for _, within := range c.Within() {
		for _, own := range within.Providers {
			i := slices.IndexFunc(list, func(p model.Provider) bool { return p.Name == own.Name })
			if i < 0 {
				list = append(list, own)
				continue
			}
			list[i].Limits = list[i].Limits.Stricter(own.Limits)
		}
	}
	return list
}
