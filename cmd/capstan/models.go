package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// models sends each call to the provider that its model's name says: one that
// is built in, of which openai is the default, scripted:FILE or replay:RUN.
type models struct {
	getenv  func(string) string
	stream  bool
	journal *journal.Journal // where replay:RUN finds its run; may be nil
	mu      sync.Mutex
	scripts map[string]*scripted.Script
	replays map[string]model.Model
	doors   *openai.Doors
}

// Call sends the request to its provider.
func (m *models) Call(ctx context.Context, r model.Request) (model.Response, error) {
	provider, name, err := m.route(r.Model)
	if err != nil {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
	}
	r.Model = name
	return provider.Call(ctx, r)
}

// Recall tells the provider of a request that a journal has answered.
func (m *models) Recall(r model.Request) {
	provider, name, err := m.route(r.Model)
	if recaller, ok := provider.(model.Recaller); ok && err == nil {
		r.Model = name
		recaller.Recall(r)
	}
}

// Priced tells whether the named model has a known price. What a script says
// costs what its replies say it does.
func (m *models) Priced(name string) bool {
	provider, name, err := m.route(name)
	if err != nil {
		return false
	}
	p, ok := provider.(model.Pricer)
	return !ok || p.Priced(name)
}

func (m *models) route(name string) (model.Model, string, error) {
	switch provider, rest, _ := strings.Cut(name, ":"); provider {
	case "scripted":
		s, err := m.script(rest)
		return s, rest, err
	case "replay":
		m, err := m.replay(rest)
		return m, rest, err
	}
	client, rest, err := m.endpoints().Client(name)
	if err != nil {
		return nil, rest, fmt.Errorf("%w (--model scripted:FILE needs no provider)", err)
	}
	return client, rest, nil
}

// script reads a script once: its replies are consumed over the whole run.
func (m *models) script(file string) (*scripted.Script, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.scripts[file]; ok {
		return s, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	s, err := scripted.Parse(file, text, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return os.ReadFile(name)
	})
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	if m.scripts == nil {
		m.scripts = map[string]*scripted.Script{}
	}
	m.scripts[file] = s
	return s, nil
}

// replay answers from a run that was kept.
func (m *models) replay(run string) (model.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.replays[run]; ok {
		return r, nil
	}
	if m.journal == nil {
		return nil, fmt.Errorf("replay:%s: no runs are kept", run)
	}
	r, err := m.journal.Replay(context.Background(), run)
	if err != nil {
		return nil, fmt.Errorf("replay:%s: %w", run, err)
	}
	if m.replays == nil {
		m.replays = map[string]model.Model{}
	}
	m.replays[run] = r
	return r, nil
}

// endpoints are where models are asked, each with one client.
func (m *models) endpoints() *openai.Doors {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.doors == nil {
		m.doors = openai.NewDoors(m.getenv, openai.Options{Stream: m.stream})
	}
	return m.doors
}

// fresh has scripts that nothing was taken from, and the same endpoints.
func (m *models) fresh() *models {
	return &models{getenv: m.getenv, stream: m.stream, journal: m.journal, doors: m.endpoints()}
}

// left describes the replies that no request has taken.
func (m *models) left() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, s := range m.scripts {
		out = append(out, s.Left()...)
	}
	slices.Sort(out)
	return out
}

// chosen gives the model that replaces the cascade's own: the flag's, else the
// environment's. "scripted" alone is the script beside the cascade:
// post.scripted.yaml for post.yaml.
func (m *models) chosen(flag, cascade string) string {
	name := cmp.Or(flag, m.getenv("CAPSTAN_MODEL"))
	if name == "scripted" || name == "scripted:" {
		return "scripted:" + strings.TrimSuffix(cascade, filepath.Ext(cascade)) + ".scripted.yaml"
	}
	return name
}

// ready reports what would only be found in the middle of a run: a phase
// without a model, a script that cannot be read, a cost budget that nothing
// can be held against.
func (m *models) ready(c *cascades.Cascade, chosen string) error {
	for _, name := range c.Models(cascades.Chosen(chosen)) {
		if name == "" {
			return usage("no model: give --model or CAPSTAN_MODEL, or model: in %s", c.File)
		}
		if _, _, err := m.route(name); err != nil {
			return usage("%w", err)
		}
		if c.Budget.MaxCostUSD > 0 && !m.Priced(name) {
			return usage("budget: max_cost_usd cannot be kept: the price of model %s is not known", name)
		}
	}
	return nil
}
