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
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

func (c *Command) show() *cobra.Command {
	var store storeFlags
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show the phases, verdicts, cost and output of a run",
		Long: `Show the phases, verdicts, cost and output of a run, and the next step. RUN is the
name of a run, the beginning of a name, or last.

A line of a verdict begins with ✓ passed, ✗ rejected, ! error, or · skipped.`,
		Example: `  capstan show last --attempts
  capstan show last --prompts`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.look(store, func(j *journal.Journal) error {
				return c.showRun(cmd.Context(), j, args[0], f)
			})
		},
	}
	store.add(cmd)
	cmd.Flags().BoolVar(&f.attempts, "attempts", false, "every attempt with its text, tool calls, verdicts and feedback")
	cmd.Flags().BoolVar(&f.prompts, "prompts", false, "every request to a model with its messages and the reply")
	cmd.Flags().BoolVar(&f.json, "json", false, flagTexts["json"])
	return cmd
}

// showFlags select the output of show.
type showFlags struct{ attempts, prompts, json bool }

func (c *Command) showRun(ctx context.Context, j *journal.Journal, id string, f showFlags) error {
	run, err := j.Run(ctx, id)
	if err != nil {
		return found(err, id)
	}
	result, err := j.Result(ctx, run.RunID)
	if err != nil {
		return found(err, id)
	}
	var calls []shownPrompt
	if f.prompts {
		if calls, err = shownPrompts(ctx, j, run.RunID, f.json); err != nil {
			return err
		}
	}
	var done *trace.Run
	if f.attempts {
		if done, err = trace.Fold(j.Events(ctx, run.RunID, 0, journal.Brief)); err != nil {
			return &exit{exitBroken, err}
		}
	}
	if f.json {
		shown := struct {
			engine.Result
			Attempts []shownAttempt `json:"attempts,omitzero"`
			Prompts  []shownPrompt  `json:"prompts,omitzero"`
		}{Result: result, Prompts: calls}
		if f.attempts {
			shown.Attempts = shownAttempts(done)
		}
		return printJSON(c.Stdout, shown)
	}
	about, err := subjects(ctx, j, run)
	if err != nil {
		return err
	}
	t := &runPrinter{out: c.visible()}
	if slices.ContainsFunc(result.Verdicts, func(v event.Verdict) bool { return v.Validator == "expr" }) {
		t.cascade = c.cascadeOf(run)
	}
	t.head(run, result)
	switch {
	case f.attempts:
		t.attempts(done)
	case !f.prompts:
		t.phases(result)
	}
	t.prompts(calls)
	t.answers(result)
	t.end(run, result, about, f.attempts)
	return nil
}

// cascadeOf returns the cascade of a run, or nil if it cannot be read.
func (c *Command) cascadeOf(run *journal.Run) *cascades.Cascade {
	cascade, err := c.ran(run)
	if err != nil {
		return nil
	}
	return cascade
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

// A runPrinter prints a run for people.
type runPrinter struct {
	out     io.Writer
	cascade *cascades.Cascade // of the run; nil if it is unknown
	all     string            // the command that prints a clipped text in full; "" clips none
}

func (t *runPrinter) line(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

func (t *runPrinter) head(run *journal.Run, r engine.Result) {
	t.line("run      %s", oneLine(run.RunID))
	t.line("cascade  %s (%s)", oneLine(run.CascadeID), reports.VisibleLine(run.File))
	t.line("status   %s", r.Status)
	t.line("started  %s", reports.Time(run.Started))
	elapsed := time.Duration(0)
	if run.Finished != nil {
		elapsed = run.Finished.Sub(run.Started)
	}
	t.line("spent    %s", spent(r.Usage, elapsed))
	switch {
	case run.Only != "":
		t.line("only     phase %s, with the other outputs of %s", oneLine(run.Only), oneLine(run.Parent))
	case run.Parent != "":
		t.line("shares   unchanged results with %s", oneLine(run.Parent))
	}
}

// phases prints every visit with its verdicts.
func (t *runPrinter) phases(r engine.Result) {
	printed := 0
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
		// Verdicts are in the order of the visits.
		for first := printed; printed < len(r.Verdicts) && r.Verdicts[printed].Phase == p.Name; printed++ {
			if v := &r.Verdicts[printed]; p.Items <= manyItems || v.Error != nil || v.Valid != nil && !*v.Valid && printed-first < 10*manyItems {
				t.verdict(v)
			}
		}
	}
	for ; printed < len(r.Verdicts); printed++ {
		t.verdict(&r.Verdicts[printed])
	}
}

func (t *runPrinter) verdict(v *event.Verdict) {
	name := checkName(t.cascade, v)
	what, mode := fmt.Sprintf("attempt %d %s %s", v.Attempt, v.Moment, name), " ("+v.Mode+")"
	switch {
	case v.CheckMoment() != v.Moment:
		what, mode = v.CheckMoment()+" "+name, ""
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
		t.line("  ! %s error: %s", what, oneLine(*v.Error))
	case v.Skipped():
		t.line("  · %s%s: %s", what, mode, oneLine(v.Reason))
	case *v.Valid:
		t.line("  ✓ %s", what)
	default:
		t.line("  ✗ %s%s: %s", what, mode, oneLine(v.Reason))
	}
}

func (t *runPrinter) attempts(run *trace.Run) {
	list, more := shownItems(run)
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
			t.uses(a.Tools)
			for _, turn := range a.Turns {
				for _, call := range turn.Calls {
					if call.Response != nil && call.Response.Thinking != "" && call.Validator == "" {
						t.line("  %s", thinkingLine(call.Response))
					}
				}
				t.uses(turn.Tools)
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

// uses prints the calls of tools and their results.
func (t *runPrinter) uses(list []*trace.Use) {
	for _, u := range list {
		if u.Call == nil {
			continue
		}
		arguments, _ := schema.Encode(u.Call.Arguments)
		switch {
		case u.Result == nil:
			t.line("  tool %s %s: no result", oneLine(u.Call.Name), oneLine(string(arguments)))
		case u.Result.Failed:
			t.line("  tool %s %s: failed: %s", oneLine(u.Call.Name), oneLine(string(arguments)), oneLine(messages.Text(u.Result.Value)))
		default:
			t.line("  tool %s %s: %s", oneLine(u.Call.Name), oneLine(string(arguments)), oneLine(messages.Text(u.Result.Value)))
		}
	}
}

// quote prints an untrusted text with a mark before each line.
func (t *runPrinter) quote(text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		t.line("  | %s", line)
	}
}

// answers prints the answers of people with their names.
func (t *runPrinter) answers(r engine.Result) {
	for _, a := range r.Answers {
		by := cmp.Or(a.By, "a person")
		answer := oneLine(by) + " answered: " + oneLine(fmt.Sprint(a.Value))
		switch {
		case a.Expired:
			answer = "nobody answered in time"
		case a.Value == nil:
			answer = oneLine(by) + " answered with a text"
		}
		t.line("\n%s asked: %s\n  %s", oneLine(a.Phase), oneLine(a.Question), answer)
	}
}

func (t *runPrinter) end(run *journal.Run, r engine.Result, about map[event.Path]*trace.Subject, attempts bool) {
	for _, d := range r.Degraded {
		t.line("\ndegraded: phase %s was released, but did not pass %s", d.Phase, strings.Join(d.Checks, ", "))
	}
	if r.Error != nil {
		t.line("\n%s", oneLine(withoutReason(r.Error, r.Verdicts)))
		if at := r.Error.Position.String(); at != "" {
			t.line("  at %s", at)
		}
	}
	for _, p := range run.Pending {
		t.line("")
		t.pending(p, about[p.Path], len(run.Pending) > 1)
	}
	next := nextsteps.After(run, r)
	if attempts || len(run.Pending) > 0 {
		next.Look = "" // it is printed above
	}
	for i, line := range next.Lines() {
		if i == 0 {
			t.line("")
		}
		t.line("next: %s", oneLine(line))
	}
	if r.Status == engine.Succeeded {
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

// pending prints a question with its text. If there are several, it prints the key too.
func (t *runPrinter) pending(p journal.Pending, about *trace.Subject, several bool) {
	t.subject(p.Question, about)
	t.line("question: %s", posed(p.Question))
	if several {
		t.line("key: %s", oneLine(string(p.Path)))
	}
	switch {
	case p.Expired:
		t.line("expired on %s without an answer", reports.Time(*p.Expires))
	case p.Expires != nil:
		t.line("takes an answer until %s", reports.Time(*p.Expires))
	}
	if p.NoticeError != "" {
		t.line("the notice of the question was not delivered: %s", oneLine(p.NoticeError))
	}
}
