package cascades

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// providerName is what may stand before the colon of a model's name.
var providerName = patterns.Lazy(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// readProviders reads the file's own providers.
func (p *parser) readProviders(o *object) []model.Provider {
	defs := o.child("providers")
	if p.defined = defs; defs == nil {
		return nil
	}
	var list []model.Provider
	for _, name := range defs.order {
		p.providers = append(p.providers, name)
		switch {
		case name == "scripted" || name == "replay":
			p.report(defs.keys[name], CodeConflict, "%s: names models that need no provider", name)
		case !providerName().MatchString(name):
			p.report(defs.keys[name], CodeValue, "%q cannot be the name of a provider: letters, digits, _ . and -", name)
		}
		if one := p.object(defs.value[name], "a provider"); one != nil {
			one.what = "provider " + name
			list = append(list, p.provider(one, name))
		}
	}
	return list
}

// protocols are the values of api, as [model.Provider] has them.
var protocols = map[string]string{"chat": "", "messages": "messages", "responses": "responses"}

// provider reads a provider. One with the name of a built-in provider and without a
// base_url changes the built-in one.
func (p *parser) provider(o *object, name string) model.Provider {
	made, builtin := model.Builtin(name)
	if !builtin || o.has("base_url") {
		made = model.Provider{Name: name, BaseURL: o.required("base_url")}
	}
	made.KeyEnv = cmp.Or(o.text("key_env"), made.KeyEnv)
	if o.has("api") {
		made.API = protocols[o.oneOf("api", "chat", "messages", "responses")]
	}
	u, err := url.Parse(made.BaseURL)
	switch {
	case made.BaseURL == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		p.report(o.get("base_url"), CodeValue, "base_url must begin with http:// or https:// and a host, as http://127.0.0.1:8000/v1 does")
	case u.User != nil || u.Fragment != "":
		p.report(o.get("base_url"), CodeValue, "base_url may not have a user or a fragment: key_env names the variable of a key")
	}
	if made.KeyEnv != "" && !variableName().MatchString(made.KeyEnv) {
		p.report(o.get("key_env"), CodeValue, "key_env must be the name of a variable of the environment, not its value")
	}
	if headers := p.headers(o); headers != nil {
		made.Headers = headers
	}
	made.Prices = p.prices(o.child("prices"))
	made.Finish = o.texts("finish")
	made.Limits = model.Limits{
		RequestsPerMinute: o.whole("requests_per_minute", 1, 0), Concurrency: o.whole("concurrency", 1, 0),
		Timeout: o.duration("timeout"), Tries: o.whole("tries", 1, 0),
	}
	o.done()
	return made
}

func (p *parser) prices(o *object) model.Prices {
	if o == nil {
		return nil
	}
	all := model.Prices{}
	for _, name := range o.order {
		one := p.object(o.value[name], "a price")
		if one == nil {
			continue
		}
		one.what = "the price of " + name
		const most = 1e6 // dollars per million tokens
		usd := map[string]float64{}
		for _, key := range []string{"input", "output"} {
			if f := one.within(key, 0, most); f != nil {
				usd[key] = *f
			}
		}
		one.needs("input", "output")
		all[name] = model.Price{
			Input: usd["input"], Output: usd["output"],
			Cached: one.within("cached", 0, most), CacheWrite: one.within("cache_write", 0, most),
		}
		one.done()
	}
	return all
}

// providerOf returns the provider of a model's name, from own or built in.
func providerOf(own []model.Provider, name string) (p model.Provider, bare string) {
	var names []string
	for _, one := range own {
		names = append(names, one.Name)
	}
	provider, bare, _ := model.SplitName(name, names...) // a name that is none has no provider
	if i := slices.Index(names, provider); i >= 0 {
		return own[i], bare
	}
	p, _ = model.Builtin(provider)
	return p, bare
}

// EveryProvider lists the providers of this cascade and of those within it. The stricter
// limits of a provider hold.
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

// checkProviders reports a provider of which a cascade within this one has another of
// the same name: a model's name says the provider's alone.
func (p *parser) checkProviders() {
	type first struct {
		model.Provider
		in string
	}
	met := map[string]first{}
	for _, c := range p.cascade.Within() {
		for _, one := range c.Providers {
			known, again := met[one.Name]
			one.Limits = model.Limits{} // may differ
			switch {
			case !again:
				met[one.Name] = first{one, c.File}
			case reflect.DeepEqual(one, known.Provider):
			case known.in == p.cascade.File:
				p.report(p.defined.keys[one.Name], CodeConflict, "provider %s is another one in %s", one.Name, c.File)
			default:
				p.report(nil, CodeConflict, "provider %s is another one in %s than in %s", one.Name, c.File, known.in)
			}
		}
	}
}
