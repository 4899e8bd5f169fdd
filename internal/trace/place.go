package trace

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/event"
)

// A place is what a path leads to: the innermost phase, attempt and turn there.
type place struct {
	kind     placeKind
	phase    *Phase
	attempt  *Attempt
	turn     *Turn
	sounding int    // -1 outside soundings
	cascade  string // whose phases stand below the place
}

type placeKind int

const (
	atRun     placeKind = iota // phases stand below
	atCascade                  // phases stand below
	atPhase
	atSounding
	atEdits // attempts of a person stand below
	atFilter
	atAttempt
	atTurn
	atCheck // a judge's call or a cascade stands below
	atTool  // a cascade stands below, or the check of a phase that is a validator
	aside   // nothing below has a place of its own
)

// maxDepth bounds the names of a path. The deepest that a run makes, cascades
// within cascades, has far fewer; what lies deeper is told at that depth.
const maxDepth = 256

// at gives the place of a path, making what it goes through and nobody has told
// of yet. It understands the paths of [event.Path] by where each name stands,
// so that a phase may be called whatever it likes.
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
		if so := path[:done+len(name)]; name != "" {
			known = f.enter(known, so, name, e)
			f.places[so] = known
		}
		done += len(name) + 1
	}
	return known
}

// shallow cuts a path to maxDepth names.
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

// enter gives the place of a name below a place. The names of
//
//	draft/sounding[1]/attempt[2]/turn[0]/redo[1]/ward[0]/critics/read
//
// lead to a phase, a sounding, an attempt, a turn, that turn, a check, the cascade that
// the check is, and a phase of that.
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
		case segment == "filter": // what the winner says when it was sent back
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

// enterBranch enters an item of a phase with each, or a phase of a group. Items
// stand in their order, whichever began first.
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

// add puts an attempt behind those of its sounding and of the ones before, which
// run at the same time.
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

// last is the newest attempt of a sounding.
func (p *Phase) last(sounding int) *Attempt {
	for i := len(p.Attempts) - 1; i >= 0; i-- {
		if p.Attempts[i].Sounding == sounding {
			return p.Attempts[i]
		}
	}
	return nil
}
