package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/process"
)

// models ask providers by the names of models, and read scripts for trying.
type models struct {
	getenv func(string) string

	mu      sync.Mutex
	doors   *openai.Doors
	scripts map[string]*scripted.Script
}

func newModels(getenv func(string) string) *models {
	return &models{getenv: getenv, doors: openai.NewDoors(getenv, openai.Options{}), scripts: map[string]*scripted.Script{}}
}

// Call asks whoever the name says.
func (m *models) Call(ctx context.Context, r model.Request) (model.Response, error) {
	if file, ok := strings.CutPrefix(r.Model, "scripted:"); ok {
		s, err := m.script(file)
		if err != nil {
			return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
		}
		return s.Call(ctx, r)
	}
	m.mu.Lock()
	doors := m.doors
	m.mu.Unlock()
	return doors.Call(ctx, r)
}

// Priced says whether calls of the named model get a cost.
func (m *models) Priced(name string) bool { return m.doors.Priced(name) }

// script reads a script once for this worker.
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
	m.scripts[file] = s
	return s, nil
}

// Provide has models of a cascade's own providers asked there. A header whose
// variable this worker does not have is told by the endpoint, as a failure.
func (m *models) Provide(list []model.Provider) {
	own := make([]model.Provider, len(list))
	for i, p := range list {
		filled := map[string]string{}
		for name, text := range p.Headers {
			if value, err := process.Expand(text); err == nil {
				filled[name] = value
			}
		}
		own[i] = p
		own[i].Headers = filled
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doors = openai.NewDoors(m.getenv, openai.Options{}, own...)
}
