package trace

import (
	"cmp"
	"iter"
	"slices"

	"github.com/seed61713e19/capstan/runner/event"
)

// Fold returns the tree of a run from its events. If the events end with an
// error, Fold returns the error and the tree of the events before it.
func Fold(events iter.Seq2[event.Event, error]) (*Run, error) {
	f := NewFolder()
	for e, err := range events {
		if err != nil {
			return f.Run(), err
		}
		f.Add(e)
	}
	return f.Run(), nil
}

// A Folder builds the tree of one run, event by event. The first event may be
// in the middle of the run. After a crash, events may be repeated: an event
// updates the element with the same path. A Folder is not safe for concurrent
// use.
type Folder struct {
	run    Run
	root   *place
	places map[event.Path]*place
	calls  map[event.Path]*Call
	uses   map[event.Path]*Use
	index  map[event.Path]int // the index of a verdict in its list
	asking *Phase             // the phase with the open question of the run
	ended  bool
}

// NewFolder returns an empty Folder.
func NewFolder() *Folder {
	return &Folder{
		run:  Run{about: map[event.Path]event.Path{}},
		root: &place{kind: atRun, sounding: -1}, places: map[event.Path]*place{},
		calls: map[event.Path]*Call{}, uses: map[event.Path]*Use{}, index: map[event.Path]int{},
	}
}

// Run returns the tree so far. Later calls of Add change it.
func (f *Folder) Run() *Run { return &f.run }

// Add adds an event to the tree. It ignores events that belong to no element.
func (f *Folder) Add(e event.Event) {
	if f.run.Started.IsZero() {
		f.run.Started = e.Time
	}
	f.run.Finished = e.Time
	f.run.RunID = cmp.Or(f.run.RunID, e.Run)
	if f.ended && e.Kind != event.RunFinished {
		f.reopen()
	}
	switch e.Kind {
	case event.RunStarted:
		f.run.RunID, f.run.CascadeID, f.run.Input = e.RunID, e.CascadeID, e.Input
	case event.RunFinished:
		f.finish(&e)
	case event.PhaseStarted, event.PhaseFinished, event.Route, event.Waiting, event.Answered:
		f.phase(&e)
	case event.AttemptStarted, event.AttemptFinished, event.Feedback:
		f.attempt(&e)
	case event.TurnStarted:
		if turn := f.at(e.Path, &e).turn; turn != nil {
			turn.Finished = e.Time
		}
	case event.ModelCalled, event.ModelReplied:
		f.call(&e)
	case event.ToolCalled, event.ToolReplied:
		f.use(&e)
	case event.VerdictGiven:
		if e.Verdict != nil {
			f.verdict(&e)
		}
	}
}

// finish ends the run. A later event reopens it.
func (f *Folder) finish(e *event.Event) {
	f.ended = true
	f.run.Status, f.run.Output, f.run.Error = e.Status, e.Output, e.Error
	f.run.RunID = cmp.Or(f.run.RunID, e.RunID)
	if f.run.CascadeID == "" {
		f.run.CascadeID = e.CascadeID
	}
	if e.Usage != nil {
		f.run.Usage = *e.Usage
	}
	if e.Status != waiting {
		f.run.Question = ""
	}
}

const waiting = "waiting"

// reopen continues a run that has ended, with the phases that ended with it.
func (f *Folder) reopen() {
	status := f.run.Status
	f.ended, f.run.Status, f.run.Output, f.run.Error = false, "", nil, nil
	if n := len(f.run.Phases); n > 0 {
		f.run.Phases[n-1].reopen(status)
	}
}

// reopen clears the status that the phase got at the end of the run. It clears
// the status of an attempt only if that is waiting or cancelled.
func (p *Phase) reopen(status string) {
	if p.Status != status || status == "succeeded" {
		return
	}
	p.Status = ""
	for _, a := range p.Texts() {
		if a.Status == status && (status == waiting || status == "cancelled") {
			a.Status = ""
		}
		for _, inner := range a.Phases {
			inner.reopen(status)
		}
	}
	for _, inner := range p.within() {
		inner.reopen(status)
	}
}

func (f *Folder) phase(e *event.Event) {
	at := e.Path
	if e.Kind == event.Waiting || e.Kind == event.Answered {
		at = at.Parent() // draft/human_input
	}
	p := f.at(at, e).phase
	if p == nil {
		return
	}
	switch e.Kind {
	case event.PhaseStarted:
		p.Status, p.Items = "", e.Items
	case event.PhaseFinished:
		p.Status, p.Output, p.Released, p.Failures, p.Finished = e.Status, e.Output, e.Released, e.Failures, e.Time
		p.Shared = e.CascadeID
		if f.asking == p && e.Status != waiting {
			f.asking, f.run.Question = nil, ""
		}
	case event.Route:
		p.Next, p.Left = e.To, e.Message
	case event.Waiting:
		p.Question, f.run.Question, f.asking = e.Message, e.Message, p
		f.run.about[e.Path] = e.Released
		p.addAnswer(event.Answer{Path: e.Path, Phase: e.Phase, Question: e.Message})
	case event.Answered:
		f.run.Question = ""
		p.addAnswer(event.Answer{Path: e.Path, Phase: e.Phase, Value: e.Output, By: e.By, Expired: e.Status == event.Expired})
	}
}

// addAnswer stores a question, or the answer to a question. It replaces the
// stored answer with the same path.
func (p *Phase) addAnswer(a event.Answer) {
	i := slices.IndexFunc(p.Answers, func(old event.Answer) bool { return old.Path == a.Path })
	if i < 0 {
		p.Answers = append(p.Answers, a)
		return
	}
	a.Question = cmp.Or(a.Question, p.Answers[i].Question)
	p.Answers[i] = a
}

func (f *Folder) attempt(e *event.Event) {
	a := f.at(e.Path, e).attempt
	if a == nil {
		return
	}
	switch e.Kind {
	case event.AttemptStarted:
		a.Status, a.Feedback = "", nil // the events of the attempt are repeated
	case event.AttemptFinished:
		a.Status, a.Text, a.Finished = e.Status, e.Text, e.Time
	case event.Feedback:
		a.Feedback = append(a.Feedback, e.Message)
	}
}

// touch sets the end of the turn to the time of the event. It ignores events
// after the end of the attempt, because those belong to shadow checks.
func (p *place) touch(e *event.Event) {
	if p.turn != nil && (p.attempt == nil || p.attempt.Finished.IsZero()) {
		p.turn.Finished = e.Time
	}
}

// Caller returns the path of the turn, check or evaluator that made a model call. It
// removes the names for the votes of a judge, its confirmation and fallback models.
//
//	draft/attempt[1]/post[0]/vote[1]/model draft/attempt[1]/post[0]
func Caller(call event.Path) event.Path {
	for call != "" {
		name, _, _ := event.SplitIndex(call.Last())
		if !slices.Contains([]string{"model", "fallback", "vote", "confirm"}, name) {
			break
		}
		call = call.Parent()
	}
	return call
}

func (f *Folder) call(e *event.Event) {
	c := f.calls[e.Path]
	at := f.at(Caller(e.Path), e)
	if at.phase == nil {
		return
	}
	if c == nil {
		c = &Call{Path: e.Path, Validator: e.Validator, Started: e.Time}
		f.calls[e.Path] = c
		switch {
		case at.turn != nil:
			at.turn.Calls = append(at.turn.Calls, c)
		case at.attempt != nil:
			at.attempt.Calls = append(at.attempt.Calls, c)
		default:
			at.phase.Calls = append(at.phase.Calls, c)
		}
	}
	at.touch(e)
	if e.Kind == event.ModelCalled {
		f.forget(c)
		c.Started, c.Request = e.Time, e.Request
		if e.Request != nil {
			c.Role = e.Request.Role
		}
		return
	}
	f.forget(c)
	c.Finished, c.Response = e.Time, e.Response
	if e.Response != nil {
		f.run.Usage = f.run.Usage.Add(e.Response.Usage)
	}
}

// forget removes the response of a repeated call, and its usage from the run.
func (f *Folder) forget(c *Call) {
	if c.Response == nil {
		return
	}
	f.run.Usage = f.run.Usage.Less(c.Response.Usage)
	c.Response = nil
}

func (f *Folder) use(e *event.Event) {
	u := f.uses[e.Path]
	at := f.at(e.Path.Parent(), e)
	if at.attempt == nil {
		return
	}
	if u == nil {
		u = &Use{Path: e.Path, Started: e.Time}
		f.uses[e.Path] = u
		if at.turn != nil {
			at.turn.Tools = append(at.turn.Tools, u)
		} else {
			at.attempt.Tools = append(at.attempt.Tools, u)
		}
	}
	at.touch(e)
	if e.Kind == event.ToolCalled {
		u.Started, u.Call, u.Result = e.Time, e.Call, nil
		return
	}
	u.Finished, u.Result = e.Time, e.Result
}

func (f *Folder) verdict(e *event.Event) {
	path := e.Verdict.Path
	at := f.at(path.Parent(), e)
	if at.phase == nil {
		return
	}
	list := &at.phase.Verdicts
	switch {
	case at.turn != nil:
		list = &at.turn.Verdicts
	case at.attempt != nil && at.kind != atTool:
		list = &at.attempt.Verdicts
	}
	at.touch(e)
	v := Verdict{*e.Verdict, e.Time}
	if i, again := f.index[path]; again && i < len(*list) && (*list)[i].Path == path {
		(*list)[i] = v
		return
	}
	f.index[path] = len(*list)
	*list = append(*list, v)
}
