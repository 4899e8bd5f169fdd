package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Router is a [model.Host] that calls the provider in a model's name, see [model.SplitName].
// It creates the client of a provider at the first call. It is safe for concurrent use.
type Router struct {
	getenv  func(string) string
	options Options
	own     []model.Provider // with expanded headers
	missing map[string]error // the own providers with an unset variable in a header
	derived *derived

	mu      sync.Mutex
	clients map[string]*Client
}

// derived holds the routers that [Router.With] returned, so that the runs of a cascade share
// their clients.
type derived struct {
	mu   sync.Mutex
	list []derivedRouter
}

type derivedRouter struct {
	own    []model.Provider // before the expansion of headers
	router *Router
}

// maxDerived is the largest number of stored routers.
const maxDerived = 64

// NewRouter returns a router to the built-in providers. It reads keys and addresses with
// getenv. The options apply to each client, except for the provider, the base URL and the key.
func NewRouter(getenv func(string) string, o Options) *Router {
	o.Limits = cmp.Or(o.Limits, &Limits{})
	return &Router{getenv: getenv, options: o, derived: &derived{}, clients: map[string]*Client{}}
}

// With returns a router to the providers in the list and to the built-in providers with other
// names. Values of headers may contain {{ env.NAME }}. Routers for equal lists share their
// clients.
func (r *Router) With(list []model.Provider) *Router {
	d := r.derived
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.list {
		if reflect.DeepEqual(known.own, list) {
			return known.router
		}
	}
	if len(d.list) == maxDerived {
		d.list = slices.Delete(d.list, 0, 1)
	}
	router := NewRouter(r.getenv, r.options)
	router.derived = d
	router.own, router.missing = expandHeaders(list)
	d.list = append(d.list, derivedRouter{slices.Clone(list), router})
	return router
}

// expandHeaders replaces the environment variables in the headers of providers. It returns an
// error for each provider with an unset variable.
func expandHeaders(list []model.Provider) (expanded []model.Provider, missing map[string]error) {
	expanded, missing = slices.Clone(list), map[string]error{}
	for i, p := range expanded {
		expanded[i].Headers = make(map[string]string, len(p.Headers))
		var problems []string
		for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
			value, err := process.Expand(p.Headers[name])
			if err != nil {
				problems = append(problems, fmt.Sprintf("header %s: %v", name, err))
			}
			expanded[i].Headers[name] = value
		}
		if len(problems) > 0 {
			missing[p.Name] = fmt.Errorf("provider %s: %s", p.Name, strings.Join(problems, "; "))
		}
	}
	return expanded, missing
}

// Provide implements [model.Host] with [Router.With].
func (r *Router) Provide(list []model.Provider) model.Model { return r.With(list) }

// Call implements [model.Model]. If the provider is unknown or has no key, the error is a
// [*model.Failure].
func (r *Router) Call(ctx context.Context, request model.Request) (model.Response, error) {
	c, name, err := r.client(request.Model)
	if err != nil {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
	}
	request.Model = name
	return c.Call(ctx, request)
}

// Ready implements [model.Readier].
func (r *Router) Ready(name string) error {
	_, _, err := r.client(name)
	return err
}

// client returns the client for a model, and the name of the model without its provider.
func (r *Router) client(name string) (*Client, string, error) {
	p, rest, err := r.provider(name)
	if err != nil {
		return nil, rest, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.clients[p.Name]; ok {
		return c, rest, nil
	}
	c, err := Open(p, r.getenv, r.options)
	if err != nil {
		err = fmt.Errorf("model %s: %w", name, err)
	}
	switch missing := r.missing[p.Name]; {
	case missing != nil && err != nil:
		return nil, rest, fmt.Errorf("%w; %w", missing, err)
	case missing != nil || err != nil:
		return nil, rest, errors.Join(missing, err)
	}
	r.clients[p.Name] = c
	return c, rest, nil
}

// Priced reports whether calls of the named model have a cost. It needs no key.
func (r *Router) Priced(name string) bool {
	p, name, err := r.provider(name)
	if err != nil {
		return false
	}
	_, ok := p.Price(name)
	return ok || p.Costs
}

// Provider returns the provider of the named model.
func (r *Router) Provider(name string) (model.Provider, error) {
	p, _, err := r.provider(name)
	return p, err
}

func (r *Router) provider(name string) (p model.Provider, rest string, err error) {
	var names []string
	for _, own := range r.own {
		names = append(names, own.Name)
	}
	provider, rest, err := model.SplitName(name, names...)
	if err != nil {
		return p, name, err
	}
	if i := slices.Index(names, provider); i >= 0 {
		return r.own[i], rest, nil
	}
	p, _ = model.Builtin(provider)
	return p, rest, nil
}
