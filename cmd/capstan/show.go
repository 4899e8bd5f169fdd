package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/runner/trace"
)

func (c *Command) show() *cobra.Command {
	var store storeFlags
	var attempts, asJSON bool
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show the phases, verdicts, cost and output of a run",
		Long: `Show the phases, verdicts, cost and output of a run. RUN is the name of a run, the
beginning of a name, or last.`,
		Example: "  capstan show last --attempts",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.look(store, func(j *journal.Journal) error {
				return c.showRun(cmd.Context(), j, args[0], attempts, asJSON)
			})
		},
	}
	store.add(cmd)
	cmd.Flags().BoolVar(&attempts, "attempts", false, "every attempt with its text, verdicts and feedback")
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

func (c *Command) showRun(ctx context.Context, j *journal.Journal, id string, attempts, asJSON bool) error {
	run, err := j.Run(ctx, id)
	if err != nil {
		return found(err, id)
	}
	result, err := j.Result(ctx, run.RunID)
	if err != nil {
		return found(err, id)
	}
	var done *trace.Run
	if attempts {
		if done, err = trace.Fold(j.Events(ctx, run.RunID, 0, journal.Brief)); err != nil {
			return &exit{exitBroken, err}
		}
	}
	switch {
	case asJSON && attempts:
		return printJSON(c.Stdout, struct {
			engine.Result
			Attempts []shownAttempt `json:"attempts"`
		}{result, shownAttempts(done)})
	case asJSON:
		return printJSON(c.Stdout, result)
	}
	t := &teller{out: c.visible()}
	if slices.ContainsFunc(result.Verdicts, func(v event.Verdict) bool { return v.Validator == "expr" }) {
		if cascade, err := c.ran(run); err == nil { // else they are told by what they are
			t.cascade = cascade
		}
	}
	t.head(run, result)
	if attempts {
		t.attempts(done)
	} else {
		t.phases(result)
	}
	t.answers(result)
	t.end(run, result)
	return nil
}

// A shownAttempt is one attempt in show --attempts --json.
type shownAttempt struct {
	Path     event.Path `json:"path"`
	Phase    string     `json:"phase"`
	Attempt  int        `json:"attempt"`
	Status   string     `json:"status"`
	Text     string     `json:"text"`
	Feedback []string   `json:"feedback"`
}

func shownAttempts(run *trace.Run) []shownAttempt {
	out := []shownAttempt{}
	for p := range run.All() {
		for _, a := range p.Texts() {
			out = append(out, shownAttempt{a.Path, p.Name, a.Number, a.Status, a.Text, append([]string{}, a.Feedback...)})
		}
	}
	return out
}

// A teller tells of a run in words.
type teller struct {
	out     io.Writer
	cascade *cascades.Cascade // of the run; nil where it is not known
}

func (t *teller) line(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

func (t *teller) head(run *journal.Run, r runner.Result) {
	t.line("run      %s", oneLine(run.RunID))
	t.line("cascade  %s (%s)", oneLine(run.CascadeID), reports.VisibleLine(run.File))
	t.line("status   %s", r.Status)
	t.line("started  %s", run.Started.Local().Format(time.DateTime))
	elapsed := time.Duration(0)
	if run.Finished != nil {
		elapsed = run.Finished.Sub(run.Started)
	}
	t.line("spent    %s", spent(r.Usage, elapsed))
	if run.Parent != "" {
		t.line("shares   what is unchanged with %s", oneLine(run.Parent))
	}
}

// phases tells every visit with its verdicts.
func (t *teller) phases(r runner.Result) {
	told := 0
	for _, p := range r.Phases {
		items := ""
		if p.Items > 0 {
			if items = reports.Count(p.Items, "item") + ", "; len(p.Failures) > 0 {
				items += fmt.Sprintf("%d failed, ", len(p.Failures))
			}
		}
		t.line("\n%s: %s, %s%s, %s", p.Name, p.Status, items, reports.Count(p.Attempts, "attempt"), reports.Count(p.ModelCalls, "model call"))
		for _, lost := range p.Failures[:min(len(p.Failures), manyItems)] {
			t.line("  ✗ item[%d] %s: %s", lost.Index, lost.Code, oneLine(lost.Message))
		}
		// Verdicts stand in the order of the visits.
		for first := told; told < len(r.Verdicts) && r.Verdicts[told].Phase == p.Name; told++ {
			if v := &r.Verdicts[told]; p.Items <= manyItems || v.Error != nil || v.Valid != nil && !*v.Valid && told-first < 10*manyItems {
				t.verdict(v)
			}
		}
	}
	for ; told < len(r.Verdicts); told++ {
		t.verdict(&r.Verdicts[told])
	}
}

func (t *teller) verdict(v *event.Verdict) {
	name := checkName(t.cascade, v)
	what, mode := fmt.Sprintf("attempt %d %s %s", v.Attempt, v.Moment, name), " ("+v.Mode+")"
	switch {
	case v.Asked() != v.Moment:
		what, mode = v.Asked()+" "+name, ""
	case v.Attempt == 0:
		what = v.Moment + " " + name
	case v.Moment == v.Validator:
		what = fmt.Sprintf("attempt %d %s", v.Attempt, v.Moment)
	}
	if _, item := itemOf(v.Path); item != "" {
		what = item + " " + what
	}
	switch {
	case v.Error != nil:
		t.line("  ! %s could not say: %s", what, oneLine(*v.Error))
	case v.Skipped():
		t.line("  · %s%s: %s", what, mode, oneLine(v.Reason))
	case *v.Valid:
		t.line("  ✓ %s", what)
	default:
		t.line("  ✗ %s%s: %s", what, mode, oneLine(v.Reason))
	}
}

func (t *teller) attempts(run *trace.Run) {
	list, more := toldItems(run)
	for _, p := range list {
		t.line("\n%s", p.Path)
		for i := range p.Verdicts {
			t.verdict(&p.Verdicts[i].Verdict)
		}
		won := p.Won()
		for _, a := range p.Texts() {
			status := a.Status
			if a.Sounding >= 0 && a.Sounding == won {
				status += ", picked"
			}
			t.line("\n  %s: %s", strings.TrimPrefix(string(a.Path), string(p.Path)+"/"), status)
			t.quote(a.Text)
			for _, turn := range a.Turns {
				for _, call := range turn.Calls {
					if call.Response != nil && call.Response.Thinking != "" && call.Validator == "" {
						t.line("  %s", thinkingLine(call.Response))
					}
				}
				for i := range turn.Verdicts {
					t.verdict(&turn.Verdicts[i].Verdict)
				}
			}
			for i := range a.Verdicts {
				t.verdict(&a.Verdicts[i].Verdict)
			}
			for _, f := range a.Feedback {
				t.line("  feedback:")
				t.quote(f)
			}
		}
	}
	if more > 0 {
		t.line("\nand %s that succeeded: --json has all", reports.Count(more, "more item"))
	}
}

// quote prints a foreign text so that it cannot be taken for ours.
func (t *teller) quote(text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		t.line("  | %s", line)
	}
}

// answers tells what people said, and who says to have said it.
func (t *teller) answers(r runner.Result) {
	for _, a := range r.Answers {
		by := cmp.Or(a.By, "somebody")
		said := oneLine(by) + " answered: " + oneLine(fmt.Sprint(a.Value))
		switch {
		case a.Expired:
			said = "nobody answered in time"
		case a.Value == nil:
			said = oneLine(by) + " gave a text"
		}
		t.line("\n%s asked: %s\n  %s", oneLine(a.Phase), oneLine(a.Question), said)
	}
}

func (t *teller) end(run *journal.Run, r runner.Result) {
	id := oneLine(run.RunID)
	for _, d := range r.Degraded {
		t.line("\ndegraded: phase %s was released though it did not pass %s", d.Phase, strings.Join(d.Checks, ", "))
	}
	if r.Error != nil {
		t.line("\n%s", oneLine(r.Error.String()))
		if at := r.Error.Position.String(); at != "" {
			t.line("  at %s", at)
		}
	}
	if p := run.Pending; p != nil {
		asks := posed(p.Question)
		switch {
		case run.Guest:
			t.line("\nwaits for: %s\n%s takes the answer: capstan-temporal answer %s VALUE", asks, oneLine(run.Owner), id)
		case p.Expired:
			t.line("\nwaited for: %s\nexpired: nobody has answered until %s; capstan resume %s goes on without an answer", asks, p.Expires.Local().Format(time.DateTime), id)
		case p.Expires != nil:
			t.line("\nwaits for: %s\ncapstan answer %s VALUE gives it, until %s", asks, id, p.Expires.Local().Format(time.DateTime))
		default:
			t.line("\nwaits for: %s\ncapstan answer %s VALUE gives it", asks, id)
		}
		if p.Untold != "" {
			t.line("Nobody was told of the question: %s", oneLine(p.Untold))
		}
		if p.Question.Type == cascades.Edit && !p.Expired {
			t.line("A text is to be changed: --show in place of VALUE prints it, --file FILE takes it back.")
		}
	}
	if r.Error != nil && resumable(r, r.Error.Code) {
		t.line("\ncapstan resume %s goes on with it", id)
	}
	if r.Status == runner.Succeeded {
		t.line("\noutput")
		text, ok := r.Output.(string)
		if !ok {
			var b strings.Builder
			printJSON(&b, r.Output)
			text = b.String()
		}
		t.quote(text)
	}
}
