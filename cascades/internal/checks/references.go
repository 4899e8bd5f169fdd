package checks

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Reference is a phase that another phase names under a key.
type Reference struct {
	Node *yaml.Node
	Key  string // context, handoffs, on_exhausted, on_error or on_expired
	Name string
	From string // the phase that names it
}

// words are the values of a key that name no phase. Those of context and handoffs may be
// the names of phases too.
var words = map[string][]string{
	"context":      {"previous", "first", "all"},
	"handoffs":     {"end"},
	"on_exhausted": {"fail", "last", "best"},
	"on_error":     {"fail"},
	"on_expired":   {"fail"},
}

// isWord reports whether the name has a meaning if no phase has it.
func (r Reference) isWord() bool {
	switch r.Key {
	case "context":
		return r.Name == "first" || r.Name == "all"
	case "handoffs":
		return r.Name == "end"
	}
	return false
}

// references reports names that no phase has.
func references(c *Cascade, r *findings.Report) {
	for _, one := range c.References {
		if _, known := c.Lines[one.Name]; !known && !one.isWord() {
			r.Error(one.Node, codes.Phase, "%s: no phase is called %q", one.Key, one.Name)
			r.Suggest(one.Name, func() []string { return append(slices.Sorted(maps.Keys(c.Lines)), words[one.Key]...) })
		}
	}
}
