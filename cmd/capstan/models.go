package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/process"
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
	given   []model.Provider // the cascade's own, as it has them
	own     []model.Provider // the same, with their headers filled in
	lacking map[string]error // own providers whose headers cannot be filled in
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

// Ready says why the named model cannot be asked.
func (m *models) Ready(name string) error {
	if name == "" {
		return errors.New("no model is named, neither in the cascade nor by --model or CAPSTAN_MODEL")
	}
	_, _, err := m.route(name)
	return err
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
	if err := m.lacks(name); err != nil {
		return nil, name, err
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
		m.doors = openai.NewDoors(m.getenv, openai.Options{Stream: m.stream}, m.own...)
	}
	return m.doors
}

// Provide has models of the cascade's own providers asked there, with their
// headers filled in.
func (m *models) Provide(list []model.Provider) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if reflect.DeepEqual(m.given, list) {
		return // with the clients that there are
	}
	m.given, m.doors, m.own, m.lacking = list, nil, nil, map[string]error{}
	for _, p := range list {
		filled := map[string]string{}
		for name, text := range p.Headers {
			value, err := process.Expand(text)
			if err != nil {
				m.lacking[p.Name] = fmt.Errorf("provider %s: header %s: %w", p.Name, name, err)
			}
			filled[name] = value
		}
		p.Headers = filled
		m.own = append(m.own, p)
	}
}

// lacks says why the provider of a name cannot be asked.
func (m *models) lacks(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	provider, _, _ := strings.Cut(name, ":")
	return m.lacking[provider]
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
