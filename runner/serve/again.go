package serve

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Change says what is to be different in a run that is made of a kept one. What
// is the same in both is shared: a call with the same request is not made again.
type Change struct {
	RunID   string         // the new run's name
	From    string         // the phase from which on everything is done anew; "" shares what it can
	Input   map[string]any // in place of the kept one's values of these names
	Changed bool           // with the cascade's files as they are now
	Watched bool           // somebody is about to look at the run: its models stream from the first call on
}

// ErrNoPhase says that a run has no phase of that name to begin from.
var ErrNoPhase = errors.New("the run's cascade has no phase of that name")

// Again makes a new run of a kept one, and returns when the journal has it. Its
// errors are those of Start and [ErrNoPhase]; a cascade's files are taken as they
// are now only of one that is offered.
func (c *Crew) Again(ctx context.Context, id string, change Change) (string, error) {
	start, err := c.o.Starts(ctx, id)
	if err != nil {
		return "", err
	}
	if change.RunID == "" {
		change.RunID = runner.NewRunID(time.Now())
	}
	fresh := runner.Start{RunID: change.RunID, Model: start.Model, Settings: start.Settings}
	return change.RunID, c.send(ctx, &hand{id: change.RunID}, func(opened *opening) (making, error) {
		r, err := c.o.Runner(fresh, opened)
		if err != nil {
			return nil, err
		}
		cascade, err := c.again(r, start, change)
		if err != nil {
			return nil, err
		}
		input := maps.Clone(start.Input)
		for _, wrong := range cascade.CheckInput(ctx.Err, input) {
			if wrong.Kind == cascades.InputUndeclared { // any more: nobody gave it to this run
				delete(input, wrong.Name)
			}
		}
		if input == nil {
			input = map[string]any{}
		}
		maps.Copy(input, change.Input)
		if wrong := cascade.CheckInput(ctx.Err, input); len(wrong) > 0 {
			return nil, wrong
		}
		return func(ctx context.Context) (runner.Result, error) {
			return r.Run(ctx, cascade, input, c.drafts.hear(change.RunID, change.Watched),
				runner.WithRunID(change.RunID), runner.WithParent(start.RunID, change.From), runner.WithSettings(start.Settings))
		}, nil
	})
}

// again is the cascade of a run that is made of a kept one.
func (c *Crew) again(r *runner.Runner, start runner.Start, change Change) (*cascades.Cascade, error) {
	cascade, err := r.Unpack(start.Files)
	if change.Changed {
		file, offered := c.o.Cascades[start.Settings["cascade"]]
		if !offered {
			return nil, ErrNoCascade
		}
		cascade, err = c.shelf.load(r, file)
	}
	if err != nil {
		return nil, err
	}
	if p, _ := cascade.Phase(change.From); change.From != "" && p == nil {
		return nil, ErrNoPhase
	}
	return cascade, nil
}

// runAgain is the order over HTTP.
func (s *Server) runAgain(w http.ResponseWriter, r *http.Request) error {
	run, err := s.ordered(r)
	if err != nil {
		return err
	}
	var body struct {
		From        string
		Input       json.RawMessage
		WithChanges bool   `json:"with_changes"`
		RunID       string `json:"run_id"`
	}
	if err := s.read(w, r, "RunAgain", &body); err != nil {
		return err
	}
	change := Change{RunID: body.RunID, From: body.From, Changed: body.WithChanges}
	if body.Input != nil {
		input, err := schema.Parse(body.Input)
		if err != nil {
			return problem(http.StatusBadRequest, "bad_json", err.Error())
		}
		change.Input = input.(map[string]any)
	}
	id, repeated, err := s.againOnce(r, run, change)
	if err != nil {
		return err
	}
	w.Header().Set("Location", runURL(id))
	if repeated != nil {
		return answer(w, http.StatusOK, standing{id, repeated.Status})
	}
	return answer(w, http.StatusAccepted, standing{id, journal.Running})
}

// againOnce makes the run; of an order that is repeated under its name it gives the
// run there is.
func (s *Server) againOnce(r *http.Request, run *journal.Run, change Change) (id string, repeated *journal.Run, err error) {
	id, err = s.o.Runs.Again(r.Context(), run.RunID, change)
	if !errors.Is(err, runner.ErrRunExists) {
		return id, nil, err
	}
	there, err := s.o.Store.Run(r.Context(), change.RunID)
	if err != nil {
		return "", nil, err
	}
	if there.RunID != change.RunID || there.Parent != run.RunID || there.Start.From != change.From || !holds(there.Start.Input, change.Input) {
		return "", nil, problem(http.StatusConflict, "run_exists", "there is a run of that name, of another order")
	}
	return there.RunID, there, nil
}

// holds tells whether an input has these values.
func holds(input, values map[string]any) bool {
	for name, v := range values {
		x, err := schema.Plain(v)
		y, wrong := schema.Plain(input[name])
		if err != nil || wrong != nil || !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// An againView is the form that makes a new run of a kept one.
type againView struct {
	frame
	Head    headView
	RunID   string // the new run's name; "" where there is no form
	From    string
	Phases  []string
	Fields  []fieldView
	Offered bool // its files may be taken as they are now
	Changed bool
	Problem *Problem
}

// againForm makes the form, without what was typed into it.
func (s *Server) againForm(r *http.Request) (v againView, run *journal.Run, c *cascades.Cascade, err error) {
	if run, err = s.ordered(r); err != nil {
		return v, nil, nil, err
	}
	v = againView{frame: s.frame("Run again · "+run.RunID, "runs"), Head: headView{RunID: run.RunID, Cascade: run.CascadeID, URL: runPath(run.RunID)}}
	v.Offered = slices.Contains(s.o.Cascades, run.Start.Settings["cascade"])
	if c, err = s.cascadeOf(run); err != nil {
		return v, run, nil, problem(http.StatusConflict, "no_cascade", "the run's cascade cannot be read any more: "+err.Error())
	}
	for _, p := range c.Phases {
		v.Phases = append(v.Phases, p.Name)
	}
	for _, in := range c.Inputs {
		if value, given := run.Start.Input[in.Name]; given {
			in.Default, in.HasDefault = value, true
		}
		f := newField(in)
		if shown(f.Value) != f.Value { // what cannot be seen in a form is not to be changed in it
			f.Kind = "kept"
		}
		v.Fields = append(v.Fields, f)
	}
	return v, run, c, nil
}

func (s *Server) againPage(w http.ResponseWriter, r *http.Request) error {
	v, run, _, err := s.againForm(r)
	if err != nil {
		return err
	}
	v.RunID = runner.NewRunID(time.Now())
	v.From = r.URL.Query().Get("from")
	if p := run.Start.Files; v.From == "" && len(p) > 0 && len(v.Phases) > 0 {
		v.From = v.Phases[0]
	}
	return s.render(w, r, http.StatusOK, "again", v)
}

func (s *Server) againPosted(w http.ResponseWriter, r *http.Request) error {
	v, run, c, err := s.againForm(r)
	if err != nil {
		return err
	}
	form, err := posted(w, r, maxBody)
	if err != nil {
		return err
	}
	v.RunID, v.From, v.Changed = form("run_id"), form("from"), form("changed") != ""
	change := Change{RunID: v.RunID, From: v.From, Changed: v.Changed, Watched: true, Input: map[string]any{}}
	for i, in := range c.Inputs {
		f := &v.Fields[i]
		if f.Kind == "kept" {
			continue
		}
		value, given := f.read(form)
		if wrong := in.Check(r.Context().Err, value, given); f.Wrong == "" && len(wrong) > 0 {
			f.Wrong = wrong[0].Message
		}
		if given {
			change.Input[in.Name] = value
		}
		if f.Wrong != "" {
			err = problem(http.StatusUnprocessableEntity, "invalid_input", "some of what was typed does not fit")
		}
	}
	order := map[string]any{"run_id": change.RunID}
	if err == nil && s.contract.schemas["RunAgain"].Refusal(r.Context().Err, order) != nil {
		err = problem(http.StatusUnprocessableEntity, "invalid_body", "that is no name for a run")
	}
	var id string
	if err == nil {
		if id, _, err = s.againOnce(r, run, change); err == nil {
			return back(w, r, id)
		}
	}
	v.Problem = s.told(w, r, err)
	v.RunID = runner.NewRunID(time.Now())
	return s.render(w, r, v.Problem.Status, "again", v)
}
