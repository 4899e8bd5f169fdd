package cascades

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner/model"
)

// providerName matches the name of a provider, which is before the colon of a
// model's name.
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

// provider reads a provider. One with the name of a built-in provider and without a
// base_url changes the built-in one.
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

// providerOf returns the provider of a model's name, from own or built in.
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

// EveryProvider returns the providers of the cascade and of nested cascades,
// with the stricter limits of each.
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
