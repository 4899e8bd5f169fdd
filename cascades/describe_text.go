package cascades

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed61713e19/capstan/internal/reports"
)

// Text returns the description as text for people. The text ends with a newline.
func (d Description) Text() string {
	var b strings.Builder
	b.WriteString(reports.Fit(d.CascadeID, 80))
	if d.Description != "" {
		b.WriteString(": " + reports.Fit(d.Description, 200))
	}
	b.WriteString("\n")
	section(&b, "inputs", d.Inputs, func(in DescribedInput, w io.Writer) { in.row(w) })
	section(&b, "phases", d.Phases, func(p DescribedPhase, w io.Writer) { p.rows(w) })
	section(&b, "hooks", d.Hooks, func(h DescribedHook, w io.Writer) { h.row(w) })
	section(&b, "tools", d.Tools, func(t DescribedTool, w io.Writer) {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", reports.Fit(t.Name, 60), t.Effect, words(t.Phases))
	})
	section(&b, "databases", d.Databases, func(db DescribedDatabase, w io.Writer) {
		may := "may be written"
		if db.ReadOnly {
			may = "read only"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\tat most %d rows\t%s\n", db.Name, cmp.Or(db.Kind, "as the environment says"), may, db.MaxRows, db.File)
	})
	section(&b, "programs", d.Programs, func(p DescribedProgram, w io.Writer) {
		fmt.Fprintf(w, "  %s\t%s", reports.Fit(p.Name, 60), reports.Fit(strings.Join(p.Argv, " "), 80))
		if len(p.Subject) > 0 {
			fmt.Fprintf(w, "\tmay change: %s", reports.Fit(strings.Join(p.Subject, ", "), 60))
		}
		fmt.Fprintln(w)
	})
	section(&b, "models", d.Models, func(m DescribedModel, w io.Writer) {
		name := cmp.Or(reports.Fit(m.Name, 60), "(the run's)")
		if m.API != "" {
			name += " (api: " + m.API + ")"
		}
		fmt.Fprintf(w, "  %s\t%s\n", name, words(m.NamedBy))
	})
	section(&b, "providers", d.Providers, func(p DescribedProvider, w io.Writer) {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", reports.Fit(p.Name, 60), cmp.Or(reports.Fit(p.BaseURL, 80), "as the environment says"), p.limits())
	})
	fmt.Fprintf(&b, "\nat worst: %s model calls, %s with tools, %s of them judges\n",
		count(d.Worst.ModelCalls), count(d.Worst.ModelCallsWithTools), count(d.Worst.JudgeCalls))
	if len(d.Protect) > 0 {
		fmt.Fprintf(&b, "protected: %s\n", reports.Fit(strings.Join(d.Protect, ", "), 200))
	}
	fmt.Fprintf(&b, "files: %s\n\n%s\n", strings.Join(d.Files, ", "), d.Command)
	return b.String()
}

// limits lists the limits of a provider.
func (p DescribedProvider) limits() string {
	var list []string
	for _, limit := range []struct {
		n      int
		format string
	}{{p.RequestsPerMinute, "requests_per_minute: %d"}, {p.Concurrency, "concurrency: %d"}, {p.Tries, "tries: %d"}} {
		if limit.n > 0 {
			list = append(list, fmt.Sprintf(limit.format, limit.n))
		}
	}
	if p.Timeout != "" {
		list = append(list, "timeout: "+p.Timeout)
	}
	return cmp.Or(strings.Join(list, ", "), "default limits")
}

// section writes a title and a table. If the list is empty, it writes nothing.
func section[T any](b *strings.Builder, title string, list []T, row func(T, io.Writer)) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	w := columns(b)
	for _, element := range list {
		row(element, w)
	}
	w.Flush() // a strings.Builder returns no error
}

// columns returns a writer that aligns text at its tabs.
func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

func (in DescribedInput) row(w io.Writer) {
	need := "optional"
	switch {
	case in.Required:
		need = "required"
	case in.HasDefault:
		need = "default " + shown(in.Default)
	}
	readers := "not read by a template"
	if len(in.ReadBy) > 0 {
		readers = "read by " + words(in.ReadBy)
	}
	if in.Description != "" {
		readers += "\t" + reports.Fit(in.Description, 100)
	}
	fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", reports.Fit(in.Name, 40), in.Type, need, readers)
}

func (p DescribedPhase) rows(w io.Writer) {
	kind := p.Kind
	if p.Each {
		kind += ", each"
	}
	if p.Group != "" {
		kind += ", in " + reports.Fit(p.Group, 40)
	}
	if p.When != "" {
		kind += ", when " + reports.Fit(p.When, 80)
	}
	fmt.Fprintf(w, "  %s\t%s\n", reports.Fit(p.Name, 40), kind)
	if p.System != "" {
		fmt.Fprintf(w, "    system\t%s\n", reports.Fit(p.System, 80))
	}
	if p.Examples > 0 {
		fmt.Fprintf(w, "    examples\t%d\n", p.Examples)
	}
	if p.Feedback != "" {
		fmt.Fprintf(w, "    feedback\t%s\n", p.Feedback)
	}
	if p.Holds != "" {
		fmt.Fprintf(w, "    token_budget\t%s\n", p.Holds)
	}
	if p.Timeout != "" {
		fmt.Fprintf(w, "    timeout\t%s for each attempt\n", p.Timeout)
	}
	for _, g := range p.Gates {
		fmt.Fprintf(w, "    %s\t%s %s, %s\n", g.Moment, g.Mode, reports.Fit(g.Validator, 60), g.Kind)
	}
	if p.Asks != "" {
		fmt.Fprintf(w, "    asks\t%s\n", reports.Fit(p.Asks, 160))
	}
}

// words returns names as one cell of a table.
func words(list []string) string { return reports.Fit(strings.Join(list, ", "), 200) }
