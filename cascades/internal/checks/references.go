package checks

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Reference is the name of a phase in another phase.
type Reference struct {
	Node *yaml.Node
	Key  string // context, handoffs, on_exhausted, on_error or on_expired
	Name string
	From string // phase with the reference
}

// words lists the values of a key that are not names of phases. A phase may have the name of a
// word of context or handoffs.
var words = map[string][]string{
	"context":      {"previous", "first", "all"},
	"handoffs":     {"end"},
	"on_exhausted": {"fail", "last", "best"},
	"on_error":     {"fail"},
	"on_expired":   {"fail"},
}

// isWord reports whether the name is a word of its key if no phase has that name.
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
