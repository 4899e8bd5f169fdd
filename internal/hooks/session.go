package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A session has the data that the events of one session of an agent share. Its first record stores the
// commit, and the digests of what judges the session.
type session struct {
	head     string
	deciders *runner.Deciders
	records  []journal.Status // of the session, before this event
	before   int              // their number
	tree     string           // of the files at an end, if a rule judges changed files
}

// The settings that store the digests of the cascade and of the agent's hooks.
const (
	settingRules = "hook_rules"
	settingAgent = "hook_settings"
)

// session returns the session of an event, and begins its record if the session has none.
// changed is an error if another cascade, or other settings, judged the session before.
func (g *Gate) session(ctx context.Context, e *Event) (s *session, changed, err error) {
	s = &session{}
	if s.deciders, err = g.Deciders(); err != nil {
		return nil, nil, err
	}
	if g.settings, err = settingsDigest(g.Settings); err != nil {
		return nil, nil, err
	}
	if err = g.read(ctx, s, e.Session); err != nil {
		return nil, nil, err
	}
	key := startKey(e)
	if len(s.of(key)) == 0 {
		set := g.describe(e, s)
		set["hook_event"], set["hook_on"], set["hook_tool"] = "session", "", ""
		set["hook_verdict"], set["hook_head"] = NotJudged, head(ctx, e.Root)
		if _, err = g.record(ctx, e, s, key, set); err == nil {
			err = g.read(ctx, s, e.Session)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	first, err := g.Journal.Run(ctx, runName(key, 1))
	if err != nil {
		return nil, nil, err
	}
	s.head, s.before = first.Start.Settings["hook_head"], len(s.records)
	switch settings := first.Start.Settings; {
	case settings[settingRules] != s.deciders.Digest():
		changed = errors.New("the cascade, or a program or file that it names, changed since the session began")
	case settings[settingAgent] != g.settings:
		changed = fmt.Errorf("the hooks in %s changed since the session began", g.Settings)
	}
	return s, changed, nil
}

// Deciders returns the files that decide the verdicts of the gate.
func (g *Gate) Deciders() (*runner.Deciders, error) {
	list := []*cascades.Cascade{g.Cascade}
	for _, h := range g.Cascade.Hooks {
		list = append(list, h.Cascade)
	}
	return g.Runner.Deciders(list...)
}

// describe returns the settings of a record of an event.
func (g *Gate) describe(e *Event, s *session) map[string]string {
	return map[string]string{
		"hook_agent": e.Agent, "hook_session": e.Session, "hook_subagent": e.Subagent, "hook_event": e.Name, "hook_on": e.On, "hook_tool": e.Tool,
		"hook_stops": strconv.FormatBool(g.stops()), "hook_before": strconv.Itoa(s.before), "hook_tree": s.tree,
		settingRules: s.deciders.Digest(), settingAgent: g.settings,
	}
}

// settingsDigest returns the digest of the hooks in the settings of an agent, and of the key
// that disables them. Agents write other settings themselves.
func settingsDigest(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return digest(err.Error()), nil // a deleted file is a change
	}
	if v, err := jsonvalue.Parse(text); err == nil {
		if root, ok := v.(map[string]any); ok {
			text, err = json.Marshal([]any{root["hooks"], root[disabling] == true})
			return digest(string(text)), err
		}
	}
	return digest(string(text)), nil
}

// tampered records that the gate or its settings changed. An end is refused twice.
func (g *Gate) tampered(ctx context.Context, e *Event, s *session, cause error) Decision {
	settings, key := g.describe(e, s), recordKey(e, Tampered, Text{})
	settings["hook_attempt"] = strconv.Itoa(len(s.of(key)) + 1)
	return g.conclude(ctx, e, s, key, settings, Tampered, fmt.Errorf("%w. A new session accepts the change", cause))
}

// forbidden returns an error if no file tool may write one of the files of an event: it
// decides what is judged, is part of the record, or lies outside of the repository.
func (g *Gate) forbidden(e *Event, s *session) error {
	for _, path := range e.Paths {
		err := s.deciders.Refuse(path)
		slash := strings.ToLower(filepath.ToSlash(path))
		if i := slices.IndexFunc(agents().Protected, func(p string) bool { return doublestar.MatchUnvalidated(p, slash) }); i >= 0 && err == nil {
			err = fmt.Errorf("no agent may write %s", agents().Protected[i])
		}
		for _, own := range []string{g.Store, g.Store + "-wal", g.Store + "-shm", g.Store + "-journal", g.Settings, g.Program} {
			if own = resolved(own); err == nil && filepath.IsAbs(own) && strings.EqualFold(own, path) {
				err = errors.New("the file belongs to the gate")
			}
		}
		if err == nil && !inside(e.Root, path) && !g.names(filepath.ToSlash(path)) {
			err = errors.New("the file is outside of the repository, and no rule names its absolute path")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// names reports whether a rule for writes has an absolute pattern of a path.
func (g *Gate) names(path string) bool {
	return slices.ContainsFunc(g.Cascade.Hooks, func(h *cascades.Hook) bool {
		return h.On == keywords.OnWrite && slices.ContainsFunc(h.Files, func(pattern string) bool {
			return filepath.IsAbs(pattern) && doublestar.MatchUnvalidated(pattern, path)
		})
	})
}

// inside reports whether a path lies in a folder.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// Outside returns an error if the record lies in the repository, where the agent may write.
func (g *Gate) Outside(e *Event) error {
	if g.Store != "" && e.Root != "" && isRepository(e.Root) && inside(e.Root, resolved(g.Store)) {
		return fmt.Errorf("the store %s is in the repository of the agent, which may change it: --store names another file", g.Store)
	}
	return nil
}
