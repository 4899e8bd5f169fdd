package cascades

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// A DescribedHook is a rule for an event of a coding agent.
type DescribedHook struct {
	Name        string          `json:"name"`
	On          string          `json:"on"`
	Files       []string        `json:"files,omitempty"`
	Match       string          `json:"match,omitempty"`
	Phase       string          `json:"phase,omitempty"` // whose checks are used
	MaxAttempts int             `json:"max_attempts"`
	OnExhausted string          `json:"on_exhausted"`
	OnError     string          `json:"on_error"`
	Gates       []DescribedGate `json:"gates"`
}

func (h *Hook) described() DescribedHook {
	d := DescribedHook{
		Name: h.Name, On: h.On, Files: h.Files, Phase: h.Phase, MaxAttempts: h.MaxAttempts,
		OnExhausted: h.OnExhausted, OnError: h.OnError, Gates: h.Cascade.Phases[0].described("").Gates, Match: h.match,
	}
	return d
}

// row writes the hook as one line of a table.
func (d DescribedHook) row(w io.Writer) {
	names := make([]string, len(d.Gates))
	for i, g := range d.Gates {
		names[i] = g.Validator
	}
	of := cmp.Or(strings.Join(d.Files, ", "), d.Match)
	fmt.Fprintf(w, "  %s\t%s\t%s\tat most %d attempts, then %s\n",
		d.Name, oneLine(of, 60), oneLine(strings.Join(names, ", "), 60), d.MaxAttempts, d.OnExhausted)
}
