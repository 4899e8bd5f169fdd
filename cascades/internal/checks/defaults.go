package checks

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A Default is the default of an input.
type Default struct {
	Node   *yaml.Node // schema of the input
	Input  string
	Value  any
	Schema *schema.Schema
}

// defaults reports default values that the schema of their input rejects.
func defaults(c *Cascade, r *findings.Report) {
	for _, d := range c.Defaults {
		broken, _ := d.Schema.Check(nil, d.Value) // a run reports an unlimited check
		for _, b := range broken {
			_, value := findings.Within(d.Node, "$.default"+strings.TrimPrefix(b.Path, "$"))
			r.Error(value, codes.Value, "the default of input %s does not match its schema: %s", d.Input, strings.TrimPrefix(b.String(), "$: "))
		}
	}
}
