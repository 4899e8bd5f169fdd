package trace

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

// A place is the position of a path in the tree: its innermost phase, attempt and
// turn.
type place struct {
	kind     placeKind
	phase    *Phase
	attempt  *Attempt
	turn     *Turn
	sounding int    // -1 outside soundings
	cascade  string // the nested cascade that contains the place
}

type placeKind int

const (
	atRun     placeKind = iota // contains phases
	atCascade                  // contains phases
	atPhase
	atSounding
	atEdits // contains the attempts of a person
	atFilter
	atAttempt
	atTurn
	atCheck // contains a judge's call or a cascade
	atTool  // contains a cascade, or the check of a phase that is a validator
	aside   // contains no phase, attempt or turn
)

// maxDepth is the maximum number of names in a path. The paths of a run, even
// with nested cascades, are far shorter. The names after the maximum are ignored.
const maxDepth = 256

// at returns the place of a path, and creates the missing places on the path. It
// interprets the names of an [event.Path] by their position, so that a phase may
// have any name.
func (f *Folder) at(path event.Path, e *event.Event) *place {
	if p, ok := f.places[path]; ok {
		return p
	}
	path = shallow(path)
	known, done := f.root, 0
	for end := len(path.Parent()); end > 0; end = len(path[:end].Parent()) {
		if p, ok := f.places[path[:end]]; ok {
			known, done = p, end+1
			break
		}
	}
	for done < len(path) {
		name, _, _ := strings.Cut(string(path[done:]), "/")
		if prefix := path[:done+len(name)]; name != "" {
			known = f.enter(known, prefix, name, e)
			f.places[prefix] = known
		}
		done += len(name) + 1
	}
	return known
}

// shallow returns the first maxDepth names of a path.
func shallow(path event.Path) event.Path {
	depth := 0
	for i := range len(path) {
		if path[i] == '/' {
			if depth++; depth == maxDepth {
				return path[:i]
			}
		}
	}
	return path
}

// enter returns the place of a name within another place. For example, the path
//
//	draft/sounding[1]/attempt[2]/turn[0]/redo[1]/ward[0]/critics/read
//
// contains a phase, a sounding, an attempt, a turn, a repetition of that turn, a check,
// the cascade of the check, and a phase of that cascade.
func (f *Folder) enter(from *place, path event.Path, segment string, e *event.Event) *place {
	name, n, numbered := event.SplitIndex(segment)
	to := *from
	switch from.kind {
	case atRun, atCascade:
		return f.enterPhase(from, path, name, e)
	case atPhase, atSounding, atEdits:
		switch {
		case from.kind == atPhase && segment == "human_input":
			to.kind = atEdits
			return &to
		case numbered && name == "attempt":
			return f.enterAttempt(from, path, n, e)
		case numbered && name == "sounding" && from.kind == atPhase:
			to.kind, to.sounding = atSounding, n
			return &to
		case from.kind == atSounding && segment == "filter":
			to.kind, to.attempt = atFilter, from.phase.last(from.sounding)
			return &to
		case numbered && name == "sub":
			to.kind = atTool
			return &to
		case from.kind == atPhase && numbered && name == "item":
			return f.enterBranch(from, path, from.phase.Name, n, e)
		case from.kind == atPhase && !numbered && e.IsVisit() && e.Path == path:
			return f.enterBranch(from, path, name, -1, e)
		}
	case atAttempt:
		switch {
		case numbered && name == "turn":
			return f.enterTurn(from, path, n, e)
		case segment == "tool":
			to.kind = atTool
			return &to
		case segment == "filter": // judges the new text of a winner after a retry
			to.kind = atFilter
			return &to
		}
	case atTurn:
		switch {
		case numbered && name == "redo":
			return &to
		case numbered && name == "tool":
			to.kind = atTool
			return &to
		}
	case atTool, atCheck:
		if from.kind == atCheck || !(numbered && isCheck(name)) {
			to.kind, to.cascade = atCascade, segment
			return &to
		}
	}
	to.kind = aside
	if isCheck(name) {
		to.kind = atCheck
	}
	return &to
}

func isCheck(name string) bool {
	return slices.Contains([]string{"pre", "ward", "result_ward", "post", "loop_until", "output_schema", "tackle"}, name)
}

func (f *Folder) enterPhase(from *place, path event.Path, name string, e *event.Event) *place {
	p := &Phase{Path: path, Name: name, Cascade: from.cascade, Item: -1, Started: e.Time}
	switch {
	case from.attempt != nil:
		from.attempt.Phases = append(from.attempt.Phases, p)
	case from.phase != nil:
		from.phase.Phases = append(from.phase.Phases, p)
	default:
		f.run.Phases = append(f.run.Phases, p)
	}
	return &place{kind: atPhase, phase: p, sounding: -1}
}

// enterBranch adds an item of a phase with each, or a phase of a group. Items are
// sorted by their numbers, because they run in parallel.
func (f *Folder) enterBranch(from *place, path event.Path, name string, item int, e *event.Event) *place {
	p := &Phase{Path: path, Name: name, Cascade: from.phase.Cascade, Item: item, Started: e.Time}
	list := from.phase.Branches
	i := len(list)
	for i > 0 && list[i-1].Item > item {
		i--
	}
	from.phase.Branches = slices.Insert(list, i, p)
	return &place{kind: atPhase, phase: p, sounding: -1}
}

func (f *Folder) enterAttempt(from *place, path event.Path, n int, e *event.Event) *place {
	a := &Attempt{Path: path, Number: n, Sounding: from.sounding, Started: e.Time}
	if from.kind == atEdits {
		a.Edited = true
		from.phase.Edits = append(from.phase.Edits, a)
	} else {
		from.phase.add(a)
	}
	return &place{kind: atAttempt, phase: from.phase, attempt: a, sounding: from.sounding}
}

// add inserts an attempt after those of the same sounding and of soundings with
// lower numbers. Soundings run in parallel.
func (p *Phase) add(a *Attempt) {
	i := len(p.Attempts)
	for i > 0 && p.Attempts[i-1].Sounding > a.Sounding {
		i--
	}
	p.Attempts = slices.Insert(p.Attempts, i, a)
}

func (f *Folder) enterTurn(from *place, path event.Path, n int, e *event.Event) *place {
	t := &Turn{Path: path, Number: n, Started: e.Time}
	from.attempt.Turns = append(from.attempt.Turns, t)
	return &place{kind: atTurn, phase: from.phase, attempt: from.attempt, turn: t, sounding: from.sounding}
}

// last returns the latest attempt of a sounding, or nil.
func (p *Phase) last(sounding int) *Attempt {
	for i := len(p.Attempts) - 1; i >= 0; i-- {
		if p.Attempts[i].Sounding == sounding {
			return p.Attempts[i]
		}
	}
	return nil
}
