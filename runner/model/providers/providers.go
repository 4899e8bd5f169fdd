// Package providers finds out by a model's name whom to ask: a provider that is
// built in, of which openai is the default, one that the cascade brings, a script
// (scripted:FILE) or a run that was kept (replay:RUN).
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

// Options say where providers are found.
type Options struct {
	Getenv func(string) string // the variables with addresses and keys
	Stream bool                // answers come in pieces
	OnWait func(openai.Wait)   // is called when a call waits; may be nil
	// Replay returns the model that answers from a stored run; nil where no runs are stored.
	Replay func(run string) (model.Model, error)
	// Read reads a script, or a file that a script names; script is "" for the script
	// itself. Nil reads any regular file of at most [MaxScript] bytes.
	Read func(file, script string) ([]byte, error)
}

// MaxScript is the largest script, and the largest file of a reply, in bytes.
const MaxScript = 16 << 20

// A Set sends each call to the provider that its model's name says. It is safe for
// concurrent use.
type Set struct {
	o       Options
	limits  *openai.Limits
	answers *answers
	opened  *opened
	at      *endpoints
}

// Answers are what is known without asking anybody.
type answers struct {
	mu      sync.Mutex
	scripts map[string]*scripted.Script
	replays map[string]model.Model
}

// New makes a set. Nothing is asked, and no variable is looked at, before a name is.
func New(o Options) *Set {
	limits := &openai.Limits{}
	at := &endpoints{doors: openai.NewDoors(o.Getenv, o.client(limits))}
	return &Set{o, limits, &answers{}, &opened{}, at}
}

// client is the options of every client.
func (o Options) client(l *openai.Limits) openai.Options {
	return openai.Options{Stream: o.Stream, OnWait: o.OnWait, Limits: l}
}

// Call sends the request to its provider.
func (s *Set) Call(ctx context.Context, r model.Request) (model.Response, error) {
	provider, name, err := s.route(r.Model)
	if err != nil {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
	}
	r.Model = name
	return provider.Call(ctx, r)
}

// Recall tells the provider of a request that a journal has answered.
func (s *Set) Recall(r model.Request) {
	provider, name, err := s.route(r.Model)
	if recaller, ok := provider.(model.Recaller); ok && err == nil {
		r.Model = name
		recaller.Recall(r)
	}
}

// Priced tells whether the named model has a known price. What a script says
// costs what its replies say it does. It needs no key.
func (s *Set) Priced(name string) bool {
	switch provider, _, _ := strings.Cut(name, ":"); provider {
	case "scripted", "replay":
		return true
	}
	return s.at.doors.Priced(name)
}

// Provider returns the provider that the named model is asked at; false for a script
// and a kept run.
func (s *Set) Provider(name string) (model.Provider, bool) {
	switch provider, _, _ := strings.Cut(name, ":"); provider {
	case "scripted", "replay":
		return model.Provider{}, false
	}
	p, err := s.at.doors.Provider(name)
	return p, err == nil
}

// Ready says why the named model cannot be asked.
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
		kept, err := s.replay(rest)
		return kept, rest, err
	}
	client, rest, err := s.at.doors.Client(name)
	if err != nil {
		err = fmt.Errorf("%w%s; --model scripted:FILE needs no provider", err, prefixes(name))
	}
	provider, _, _ := strings.Cut(name, ":")
	switch lacks := s.at.lacking[provider]; {
	case lacks != nil && err != nil:
		err = fmt.Errorf("%w; %w", lacks, err)
	case lacks != nil:
		err = lacks
	}
	if err != nil {
		return nil, rest, err
	}
	return client, rest, nil
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

// replay answers from a run that was kept.
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
	return &Set{o, s.limits, &answers{}, s.opened, s.at}
}

// Rewound answers as the set does, with the scripts that it has read from their
// beginnings: for one of many runs of the same cascade, each of which is to find
// them whole. Nothing is read again.
func (s *Set) Rewound() *Set {
	s.answers.mu.Lock()
	defer s.answers.mu.Unlock()
	again := &answers{replays: maps.Clone(s.answers.replays), scripts: make(map[string]*scripted.Script, len(s.answers.scripts))}
	for file, script := range s.answers.scripts {
		again.scripts[file] = script.Rewound()
	}
	return &Set{s.o, s.limits, again, s.opened, s.at}
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
