package openai

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
)

// Doors is a [model.Model] that asks whichever provider a model's name says, as
// [model.SplitName] reads it: the built-in ones and more. A provider's client
// is made when it is first asked, with what the environment has for it, and
// used from then on. It is safe for concurrent use.
type Doors struct {
	getenv  func(string) string
	options Options
	own     []model.Provider

	mu   sync.Mutex
	open map[string]*Client
}

// NewDoors makes doors to the built-in providers and to own ones, which win
// over a built-in one of their name. The options are those of every client, but
// for the provider, the base URL and the key.
func NewDoors(getenv func(string) string, o Options, own ...model.Provider) *Doors {
	if o.Limits == nil {
		o.Limits = &Limits{} // of all clients that ask the same endpoint with the same key
	}
	return &Doors{getenv: getenv, options: o, own: own, open: map[string]*Client{}}
}

// Client is the client of the provider that a model's name says, and the
// model's name there. The error says what is wrong with the name, or what the
// environment has to have.
func (d *Doors) Client(name string) (*Client, string, error) {
	p, rest, err := d.provider(name)
	if err != nil {
		return nil, rest, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.open[p.Name]; ok {
		return c, rest, nil
	}
	c, err := Open(p, d.getenv, d.options)
	if err != nil {
		return nil, rest, fmt.Errorf("model %s: %w", name, err)
	}
	d.open[p.Name] = c
	return c, rest, nil
}

// Call asks the provider. A name that says none is a [*model.Failure].
func (d *Doors) Call(ctx context.Context, r model.Request) (model.Response, error) {
	c, name, err := d.Client(r.Model)
	if err != nil {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
	}
	r.Model = name
	return c.Call(ctx, r)
}

// Priced says whether calls of the named model get a cost. It needs no key.
func (d *Doors) Priced(name string) bool {
	p, name, err := d.provider(name)
	if err != nil {
		return false
	}
	_, ok := p.Price(name)
	return ok || p.Costs
}

// Provider returns the provider that a model's name says.
func (d *Doors) Provider(name string) (model.Provider, error) {
	p, _, err := d.provider(name)
	return p, err
}

func (d *Doors) provider(name string) (p model.Provider, rest string, err error) {
	var names []string
	for _, own := range d.own {
		names = append(names, own.Name)
	}
	provider, rest, err := model.SplitName(name, names...)
	if err != nil {
		return p, name, err
	}
	if i := slices.Index(names, provider); i >= 0 {
		return d.own[i], rest, nil
	}
	p, _ = model.Builtin(provider)
	return p, rest, nil
}
