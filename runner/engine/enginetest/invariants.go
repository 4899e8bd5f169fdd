package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// invariants checks properties that the events of every run have. An event has
// exactly the members of its kind, they agree with its path, and its start is
// at the same path.
type invariants struct {
	open   map[string]bool // calls, attempts and questions without an end, by kind and path
	texts  map[event.Path]string
	spent  model.Usage
	run    event.Event // the start of the run
	called event.Event // the last call of a model
	end    event.Event // the end of the run

	verdicts     []event.Verdict
	answersGiven []event.Answer
	asked        map[event.Path]string
	statuses     map[event.Path]string // of phases
}

// membersOf are the members of each kind. A question mark marks a member that
// may be missing.
var membersOf = parseMembers(map[event.Kind]string{
	event.RunStarted:      "RunID CascadeID Input?",
	event.PhaseStarted:    "Phase Items?",
	event.AttemptStarted:  "Phase Attempt",
	event.TurnStarted:     "Phase Attempt Turn",
	event.ModelCalled:     "Phase Attempt? Turn Validator? Request Conversation Before? Message?",
	event.ModelReplied:    "Phase Attempt? Turn Validator? Response",
	event.ToolCalled:      "Phase Attempt? Call",
	event.ToolReplied:     "Phase Attempt? Result",
	event.VerdictGiven:    "Verdict",
	event.Feedback:        "Phase Attempt Message",
	event.Pruned:          "Phase Attempt Turn Pruning Message?",
	event.AttemptFinished: "Phase Attempt Status Text?",
	event.PhaseFinished:   "Phase Status Output? Released? Failures? CascadeID?",
	event.Route:           "Phase? From To Message?",
	event.Waiting:         "Phase Message Released?",
	event.Answered:        "Phase Output? By? Status?",
	event.RunFinished:     "RunID CascadeID Status Output? Usage Error?",
})

// parseMembers returns the members of each kind by name; the value is false if
// the member may be missing.
func parseMembers(all map[event.Kind]string) map[event.Kind]map[string]bool {
	carried := map[event.Kind]map[string]bool{}
	for kind, members := range all {
		carried[kind] = map[string]bool{}
		for _, name := range strings.Fields(members + " Seq? Time? Kind? Path? Run? Cut?") {
			name, may := strings.CutSuffix(name, "?")
			carried[kind][name] = !may
		}
	}
	return carried
}

var members = reflect.VisibleFields(reflect.TypeFor[event.Event]())

// check checks the next event of a run.
func (p *invariants) check(e event.Event) error {
	if p.open == nil {
		p.open, p.texts, p.asked, p.statuses = map[string]bool{}, map[event.Path]string{}, map[event.Path]string{}, map[event.Path]string{}
	}
	for _, promise := range []func(event.Event) error{p.checkMembers, p.checkPath, p.checkPairs, p.checkRun} {
		if err := promise(e); err != nil {
			return fmt.Errorf("%s %s: %w", e.Kind, e.Path, err)
		}
	}
	return nil
}

func (p *invariants) checkMembers(e event.Event) error {
	v := reflect.ValueOf(e)
	for i, member := range members {
		must, carries := membersOf[e.Kind][member.Name]
		if carries && !must {
			continue
		}
		if there := !v.Field(i).IsZero(); there != must {
			return fmt.Errorf("%s is there: %t", member.Name, there)
		}
	}
	return nil
}

var (
	lastAttempt = regexp.MustCompile(`.*/attempt\[(\d+)\]`)
	lastTurn    = regexp.MustCompile(`.*/turn\[(\d+)\]`)
	ofCheck     = regexp.MustCompile(`^(human_input: |output_extraction: |[\w ]+ could not say: )`)
	ownAttempt  = regexp.MustCompile(`^(sounding\[\d+\]/|human_input/)?attempt\[\d+\]$`)
)

// checkPath checks that phase, attempt and turn agree with the path.
func (p *invariants) checkPath(e event.Event) error {
	phase, attempt, turn := e.Phase, e.Attempt, e.Turn
	if v := e.Verdict; v != nil {
		if v.Path != e.Path {
			return fmt.Errorf("the verdict is of %s", v.Path)
		}
		if v.Phase == "" || v.Moment == "" || v.Mode == "" || v.Validator == "" {
			return fmt.Errorf("the verdict lacks its phase %q, moment %q, mode %q or validator %q", v.Phase, v.Moment, v.Mode, v.Validator)
		}
		phase, attempt, turn = v.Phase, v.Attempt, &v.Turn
	}
	if phase != "" && !slices.Contains(strings.FieldsFunc(string(e.Path), func(r rune) bool { return r == '/' || r == '[' }), phase) {
		return fmt.Errorf("it is not of the phase %s", phase)
	}
	own := ownPart(e.Path, phase)
	if n := lastAttempt.FindStringSubmatch(own); n != nil && strconv.Itoa(attempt) != n[1] && (attempt != 0 || e.Verdict != nil) {
		return fmt.Errorf("it is not of attempt %d", attempt)
	}
	asks := e.Kind == event.ModelCalled && e.Validator == "" && (e.Request.Role == "" || e.Request.Role == "summary")
	if attempt == 0 && (asks || e.Kind == event.ToolCalled || e.Kind == event.ToolReplied) {
		return errors.New("it is of no attempt")
	}
	if n := lastTurn.FindStringSubmatch(own); n != nil && turn != nil && strconv.Itoa(*turn) != n[1] {
		return fmt.Errorf("it is not of turn %d", *turn)
	}
	return nil
}

// ownPart returns the part of a path from a phase on. The part before may
// belong to a run around this one.
func ownPart(at event.Path, phase string) string {
	return string(at[strings.LastIndex("/"+string(at), "/"+phase):])
}

// ends maps the kinds of ends to those of starts at the same path.
var ends = map[event.Kind]event.Kind{
	event.ModelReplied: event.ModelCalled, event.ToolReplied: event.ToolCalled,
	event.AttemptFinished: event.AttemptStarted, event.Answered: event.Waiting,
}

func (p *invariants) checkPairs(e event.Event) error {
	if begun, ok := ends[e.Kind]; ok {
		key := string(begun) + " " + string(e.Path)
		_, judged := p.texts[e.Path] // the winner of soundings is checked again, and ends again
		if !p.open[key] && !judged {
			return fmt.Errorf("there was no %s", begun)
		}
		delete(p.open, key)
	}
	for _, begun := range ends {
		if e.Kind == begun {
			p.open[string(begun)+" "+string(e.Path)] = true
		}
	}
	return nil
}

func (p *invariants) checkRun(e event.Event) error {
	switch e.Kind {
	case event.RunStarted:
		p.run = e
	case event.ModelCalled:
		if slices.ContainsFunc(e.Request.Messages, func(m model.Message) bool { return m.Role == "" }) {
			return errors.New("a message is nobody's")
		}
		if decides := e.Validator != "" || e.Request.Role == "evaluator"; decides && e.Request.Schema == nil {
			return errors.New("it decides, and is asked without a schema")
		}
		p.called = e
	case event.ModelReplied:
		if c := p.called; c.Path == e.Path && (c.Phase != e.Phase || c.Attempt != e.Attempt || *c.Turn != *e.Turn || c.Validator != e.Validator) {
			return errors.New("it belongs to another call")
		}
		p.spent = p.spent.Add(e.Response.Usage)
	case event.AttemptFinished:
		p.texts[e.Path] = e.Text
	case event.PhaseFinished:
		p.statuses[e.Path] = e.Status
		return p.checkReleased(e)
	case event.Route:
		if left := p.statuses[e.Path] == engine.Exhausted || p.statuses[e.Path] == engine.Failed; left != (e.Message != "") {
			return fmt.Errorf("a phase that %s is left because of %q", p.statuses[e.Path], e.Message)
		}
	case event.VerdictGiven:
		p.verdicts = append(p.verdicts, *e.Verdict)
	case event.Waiting:
		p.asked[e.Path] = e.Message
	case event.Answered:
		given := event.Answer{Path: e.Path, Phase: e.Phase, Question: p.asked[e.Path], Value: e.Output, By: e.By, Expired: e.Status == event.Expired}
		p.answersGiven = append(p.answersGiven, given.WithoutEdit())
	case event.Pruned:
		if w := e.Pruning; w.Left > w.Room || w.Tokens <= w.Room || !w.Estimated {
			return fmt.Errorf("it is pruned so: %+v", *w)
		}
	case event.RunFinished:
		p.end = e
		return p.checkFinished(e)
	}
	return nil
}

// checkResult checks that the result agrees with the events.
func (p *invariants) checkResult(r engine.Result) error {
	if r.RunID != p.end.RunID || r.CascadeID != p.end.CascadeID || r.Status != p.end.Status || r.Usage != *p.end.Usage {
		return fmt.Errorf("its run is %s, cascade %s, status %s, usage %+v", r.RunID, r.CascadeID, r.Status, r.Usage)
	}
	if r.Phases == nil || r.Verdicts == nil || r.Degraded == nil {
		return errors.New("a list of it is null")
	}
	for _, pair := range [][2]any{{r.Output, p.end.Output}, {r.Error, p.end.Error}, {r.Verdicts, p.verdicts}, {r.Answers, p.answersGiven}} {
		got, _ := json.Marshal(pair[0])
		want, _ := json.Marshal(pair[1])
		if string(got) != string(want) && len(got)+len(want) > len("[]null") {
			return fmt.Errorf("it has %s\nbut reported %s", got, want)
		}
	}
	return nil
}

// checkError checks that the returned error agrees with the last event, and
// that its place, check and attempts are right.
func (p *invariants) checkError(e *engine.Error) error {
	reported := *p.end.Error
	if e.Error() != reported.String() || event.Position(e.Position) != reported.Position {
		return fmt.Errorf("the error is %v at %v", e, e.Position)
	}
	if e.Path == "" && e.Phase != "" && e.Code != engine.OverBudget && e.Code != engine.Cancelled {
		return errors.New("the error has no path")
	}
	refuses := func(name string, under event.Path) bool {
		return slices.ContainsFunc(p.verdicts, func(v event.Verdict) bool {
			return v.Validator == name && (v.Valid == nil || !*v.Valid) && strings.HasPrefix(string(v.Path), string(under))
		})
	}
	switch {
	case e.Check != "" && !refuses(e.Check, "") && e.Check != "human_input" && e.Check != "output_extraction":
		return fmt.Errorf("%s has not refused it", e.Check)
	case e.Check == "" && e.Code != engine.Invalid && ofCheck.MatchString(e.Message):
		return errors.New("the error does not name its check")
	case e.Code == engine.Waiting && !errors.Is(e, engine.ErrSuspended):
		return fmt.Errorf("it waits for nobody: %v", e.Err)
	case e.Check == "" && e.Code == engine.Blocked:
		return errors.New("no check has blocked it")
	}
	for i, a := range e.Attempts {
		at := e.Path.At("attempt", a.Number)
		if text, ok := p.texts[at]; !ok || text != a.Text || a.Number != i+1 || len(a.Objections) == 0 {
			return fmt.Errorf("the error has attempt %+v, but reported %q", a, text)
		}
		for _, o := range a.Objections {
			if !refuses(o.Validator, at) || o.Reason == "" {
				return fmt.Errorf("%s has not refused attempt %d", o.Validator, a.Number)
			}
		}
	}
	return nil
}

// checkReleased checks that the output of a phase is the text of the attempt
// that it names, and that it names one if the phase made any.
func (p *invariants) checkReleased(e event.Event) error {
	if e.Released == "" {
		for at := range p.texts {
			if rest, under := strings.CutPrefix(string(at), string(e.Path)+"/"); under && ownAttempt.MatchString(rest) && e.Output != nil {
				return fmt.Errorf("it does not say that %s is released", at)
			}
		}
		return nil
	}
	text, ok := p.texts[e.Released]
	if !ok {
		return fmt.Errorf("%s has not finished", e.Released)
	}
	if s, ok := e.Output.(string); ok && s != text || e.Output == nil && text != "null" {
		return fmt.Errorf("released is %v and %s ended with %q", e.Output, e.Released, text)
	}
	return nil
}

func (p *invariants) checkFinished(e event.Event) error {
	switch {
	case e.RunID != p.run.RunID || e.CascadeID != p.run.CascadeID:
		return fmt.Errorf("it is not the run that has started, %s of %s", p.run.RunID, p.run.CascadeID)
	case *e.Usage != p.spent:
		return fmt.Errorf("usage is %+v, that of its calls %+v", *e.Usage, p.spent)
	case (e.Error == nil) != (e.Status == "succeeded" || e.Status == "degraded"):
		return fmt.Errorf("the error of what %s is %v", e.Status, e.Error)
	}
	return nil
}
