// Package providers chooses the provider of a model by the model's name. A
// provider is built in (default: openai), or defined by the cascade. A script
// (scripted:FILE) and a stored run (replay:RUN) are also providers.
package providers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// Options configure the providers.
type Options struct {
	Getenv func(string) string // the variables with addresses and keys
	Stream bool                // answers come in pieces
	OnWait func(openai.Wait)   // is called if a call waits; may be nil
	// Replay returns the model that answers from a stored run; nil where no runs are stored.
	Replay func(run string) (model.Model, error)
	// Read reads a script, or a file that a script names; script is "" for the script
	// itself. Nil reads any regular file of at most [MaxScript] bytes.
	Read func(file, script string) ([]byte, error)
}

// MaxScript is the largest script, and the largest file of a reply, in bytes.
const MaxScript = 16 << 20

// A Set sends each call to the provider of its model. It is safe for concurrent
// use.
type Set struct {
	o       Options
	answers *answers
	router  *openai.Router
}

// answers are the scripts and stored runs, which need no endpoint.
type answers struct {
	mu      sync.Mutex
	scripts map[string]*scripted.Script
	replays map[string]model.Model
}

// New returns a set. It calls no endpoint and reads no environment variable.
func New(o Options) *Set {
	return &Set{o, &answers{}, openai.NewRouter(o.Getenv, openai.Options{Stream: o.Stream, OnWait: o.OnWait})}
}

// Of returns the set for a cascade with its own providers. It has the scripts of s.
func (s *Set) Of(list []model.Provider) *Set {
	if len(list) == 0 {
		return s
	}
	return &Set{s.o, s.answers, s.router.With(list)}
}

// Provide implements [model.Host] with [Set.Of].
func (s *Set) Provide(list []model.Provider) model.Model { return s.Of(list) }

// Call sends the request to its provider.
func (s *Set) Call(ctx context.Context, r model.Request) (model.Response, error) {
	provider, name, err := s.route(r.Model)
	if err != nil {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
	}
	r.Model = name
	return provider.Call(ctx, r)
}

// Recall informs the provider about a request that a journal has answered.
func (s *Set) Recall(r model.Request) {
	provider, name, err := s.route(r.Model)
	if recaller, ok := provider.(model.Recaller); ok && err == nil {
		r.Model = name
		recaller.Recall(r)
	}
}

// Priced reports whether the named model has a known price. Scripts and stored
// runs have the price of their replies. Priced needs no key.
func (s *Set) Priced(name string) bool {
	switch provider, _, _ := strings.Cut(name, ":"); provider {
	case "scripted", "replay":
		return true
	}
	return s.router.Priced(name)
}

// Provider returns the provider of the named model; ok is false for a script
// and a stored run.
func (s *Set) Provider(name string) (model.Provider, bool) {
	switch provider, _, _ := strings.Cut(name, ":"); provider {
	case "scripted", "replay":
		return model.Provider{}, false
	}
	p, err := s.router.Provider(name)
	return p, err == nil
}

// Ready returns an error if the named model cannot be called.
func (s *Set) Ready(name string) error {
	if name == "" {
		return errors.New("no model: set --model, CAPSTAN_MODEL, or model in the cascade")
	}
	_, _, err := s.route(name)
	return err
}

func (s *Set) route(name string) (model.Model, string, error) {
	switch provider, rest, _ := strings.Cut(name, ":"); provider {
	case "scripted":
		script, err := s.script(rest)
		return script, rest, err
	case "replay":
		stored, err := s.replay(rest)
		return stored, rest, err
	}
	if err := s.router.Ready(name); err != nil {
		return nil, name, fmt.Errorf("%w%s; --model scripted:FILE needs no provider", err, prefixes(name))
	}
	return s.router, name, nil
}

// prefixes returns a hint about provider prefixes for a model's name that has no prefix.
func prefixes(name string) string {
	if name == "" || strings.Contains(name, ":") {
		return ""
	}
	return "; a model of another provider has a prefix, as in ollama:" + name
}

// script reads a script once: its replies are consumed over the whole run.
func (s *Set) script(file string) (*scripted.Script, error) {
	s.answers.mu.Lock()
	defer s.answers.mu.Unlock()
	if known, ok := s.answers.scripts[file]; ok {
		return known, nil
	}
	text, err := s.read(file, "")
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	read, err := scripted.Parse(file, text, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return s.read(name, file)
	})
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	if s.answers.scripts == nil {
		s.answers.scripts = map[string]*scripted.Script{}
	}
	s.answers.scripts[file] = read
	return read, nil
}

func (s *Set) read(file, script string) ([]byte, error) {
	if s.o.Read == nil {
		return files.Read(file, MaxScript)
	}
	return s.o.Read(file, script)
}

// replay returns the model of a stored run.
func (s *Set) replay(run string) (model.Model, error) {
	s.answers.mu.Lock()
	defer s.answers.mu.Unlock()
	if r, ok := s.answers.replays[run]; ok {
		return r, nil
	}
	if s.o.Replay == nil {
		return nil, fmt.Errorf("replay:%s: runs are not stored", run)
	}
	r, err := s.o.Replay(run)
	if err != nil {
		return nil, fmt.Errorf("replay:%s: %w", run, err)
	}
	if s.answers.replays == nil {
		s.answers.replays = map[string]model.Model{}
	}
	s.answers.replays[run] = r
	return r, nil
}

// Reading returns a set with the same endpoints whose scripts are unread, and are read
// by read, see Options.
func (s *Set) Reading(read func(file, script string) ([]byte, error)) *Set {
	o := s.o
	o.Read = read
	return &Set{o, &answers{}, s.router}
}

// Rewound returns a set with the same endpoints and with its scripts at their
// beginnings. It does not read the scripts again. Each of several runs of a
// cascade needs its own rewound set.
func (s *Set) Rewound() *Set {
	s.answers.mu.Lock()
	defer s.answers.mu.Unlock()
	again := &answers{replays: maps.Clone(s.answers.replays), scripts: make(map[string]*scripted.Script, len(s.answers.scripts))}
	for file, script := range s.answers.scripts {
		again.scripts[file] = script.Rewound()
	}
	return &Set{s.o, again, s.router}
}

// Left describes the replies that no request has taken, in the order of their files.
func (s *Set) Left() []string {
	s.answers.mu.Lock()
	defer s.answers.mu.Unlock()
	var out []string
	for _, file := range slices.Sorted(maps.Keys(s.answers.scripts)) {
		out = append(out, s.answers.scripts[file].Left()...)
	}
	return out
}
