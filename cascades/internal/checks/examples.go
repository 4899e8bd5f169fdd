package checks

import (
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// An Example is an example of a phase with an output_schema.
type Example struct {
	Phase    string
	Number   int
	Answer   string
	Position syntax.Position
	Schema   *schema.Schema
}

// examples warns about answers that the output_schema of their phase rejects.
func examples(c *Cascade, r *findings.Report) {
	for _, e := range c.Examples {
		_, broken, err := schema.Extract(nil, e.Answer, e.Schema)
		if len(broken) > 0 {
			err = broken[0]
		}
		if err != nil {
			r.WarnAt(e.Position, codes.Value, "the answer of example %d does not follow the output_schema of phase %s: %v", e.Number, e.Phase, err)
		}
	}
}
