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

// promises are what the events of every run say, whatever the run is of: each
// carries what its kind says and nothing else, says the same as its path, and
// answers what was begun at its path.
type promises struct {
	open   map[string]bool // calls, attempts and questions that have begun, by kind and path
	texts  map[event.Path]string
	spent  model.Usage
	run    event.Event // how it started
	called event.Event // the last call of a model
	end    event.Event // and how it finished

	verdicts []event.Verdict
	said     []event.Answer
	asked    map[event.Path]string
	came     map[event.Path]string // the status of phases
}

// carried are the members of each kind; those with a question mark may be
// missing where there is nothing to say.
var carried = read(map[event.Kind]string{
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
	event.Waiting:         "Phase Message",
	event.Answered:        "Phase Output? By? Status?",
	event.RunFinished:     "RunID CascadeID Status Output? Usage Error?",
})

// read gives the members of each kind by their names, false those that may be
// missing.
func read(all map[event.Kind]string) map[event.Kind]map[string]bool {
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

// kept looks at the next event of a run, and says which promise it breaks.
func (p *promises) kept(e event.Event) error {
	if p.open == nil {
		p.open, p.texts, p.asked, p.came = map[string]bool{}, map[event.Path]string{}, map[event.Path]string{}, map[event.Path]string{}
	}
	for _, promise := range []func(event.Event) error{p.carries, p.placed, p.answers, p.adds} {
		if err := promise(e); err != nil {
			return fmt.Errorf("%s %s: %w", e.Kind, e.Path, err)
		}
	}
	return nil
}

func (p *promises) carries(e event.Event) error {
	v := reflect.ValueOf(e)
	for i, member := range members {
		must, carries := carried[e.Kind][member.Name]
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

// placed sees that phase, attempt and turn are those of the path.
func (p *promises) placed(e event.Event) error {
	phase, attempt, turn := e.Phase, e.Attempt, e.Turn
	if v := e.Verdict; v != nil {
		if v.Path != e.Path {
			return fmt.Errorf("the verdict is of %s", v.Path)
		}
		if v.Phase == "" || v.Moment == "" || v.Mode == "" || v.Validator == "" {
			return fmt.Errorf("the verdict is of %q at %q in %q by %q", v.Phase, v.Moment, v.Mode, v.Validator)
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

// ownPart is what stands behind a phase in a path: what stands in front may be of
// another run, within which this one is.
func ownPart(at event.Path, phase string) string {
	return string(at[strings.LastIndex("/"+string(at), "/"+phase):])
}

// ends are the kinds that end what another begins at the same path.
var ends = map[event.Kind]event.Kind{
	event.ModelReplied: event.ModelCalled, event.ToolReplied: event.ToolCalled,
	event.AttemptFinished: event.AttemptStarted, event.Answered: event.Waiting,
}

func (p *promises) answers(e event.Event) error {
	if begun, ok := ends[e.Kind]; ok {
		key := string(begun) + " " + string(e.Path)
		_, judged := p.texts[e.Path] // the winner of soundings is judged once more, and ends again
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

func (p *promises) adds(e event.Event) error {
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
			return errors.New("it is not of what was called")
		}
		p.spent = p.spent.Add(e.Response.Usage)
	case event.AttemptFinished:
		p.texts[e.Path] = e.Text
	case event.PhaseFinished:
		p.came[e.Path] = e.Status
		return p.released(e)
	case event.Route:
		if left := p.came[e.Path] == engine.Exhausted || p.came[e.Path] == engine.Failed; left != (e.Message != "") {
			return fmt.Errorf("a phase that %s is left because of %q", p.came[e.Path], e.Message)
		}
	case event.VerdictGiven:
		p.verdicts = append(p.verdicts, *e.Verdict)
	case event.Waiting:
		p.asked[e.Path] = e.Message
	case event.Answered:
		given := event.Answer{Path: e.Path, Phase: e.Phase, Question: p.asked[e.Path], Value: e.Output, By: e.By, Expired: e.Status == event.Expired}
		p.said = append(p.said, given.Told())
	case event.Pruned:
		if w := e.Pruning; w.Left > w.Room || w.Tokens <= w.Room || !w.Estimated {
			return fmt.Errorf("it is pruned so: %+v", *w)
		}
	case event.RunFinished:
		p.end = e
		return p.finished(e)
	}
	return nil
}

// result sees that the run came to what its events tell.
func (p *promises) result(r engine.Result) error {
	if r.RunID != p.end.RunID || r.CascadeID != p.end.CascadeID || r.Status != p.end.Status || r.Usage != *p.end.Usage {
		return fmt.Errorf("it is %s of %s, %s with %+v", r.RunID, r.CascadeID, r.Status, r.Usage)
	}
	if r.Phases == nil || r.Verdicts == nil || r.Degraded == nil {
		return errors.New("a list of it is null")
	}
	for _, pair := range [][2]any{{r.Output, p.end.Output}, {r.Error, p.end.Error}, {r.Verdicts, p.verdicts}, {r.Answers, p.said}} {
		got, _ := json.Marshal(pair[0])
		want, _ := json.Marshal(pair[1])
		if string(got) != string(want) && len(got)+len(want) > len("[]null") {
			return fmt.Errorf("it has %s\nand told is %s", got, want)
		}
	}
	return nil
}

// failed sees that the error which a run gives is that which it tells, and says
// where, by which check, and of what was said to whom.
func (p *promises) failed(e *engine.Error) error {
	told := *p.end.Error
	if e.Error() != told.String() || event.Position(e.Position) != told.Position {
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
		return errors.New("the error does not say what has ended it")
	case e.Code == engine.Waiting && !errors.Is(e, engine.ErrSuspended):
		return fmt.Errorf("it waits for nobody: %v", e.Err)
	case e.Check == "" && e.Code == engine.Blocked:
		return errors.New("no check has blocked it")
	}
	for i, a := range e.Attempts {
		at := e.Path.At("attempt", a.Number)
		if text, ok := p.texts[at]; !ok || text != a.Text || a.Number != i+1 || len(a.Objections) == 0 {
			return fmt.Errorf("the error has attempt %+v, told is %q", a, text)
		}
		for _, o := range a.Objections {
			if !refuses(o.Validator, at) || o.Reason == "" {
				return fmt.Errorf("%s has not refused attempt %d", o.Validator, a.Number)
			}
		}
	}
	return nil
}

// released sees that the output of a phase is the text of the attempt that it
// names, and that it names one where it has made any.
func (p *promises) released(e event.Event) error {
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

func (p *promises) finished(e event.Event) error {
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
