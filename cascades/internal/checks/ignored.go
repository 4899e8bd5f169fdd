package checks

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
)

// ignored reports one warning for all keys of other programs that have no effect.
func ignored(c *Cascade, r *findings.Report) {
	if len(c.Ignored) == 0 {
		return
	}
	keys := slices.SortedFunc(slices.Values(c.Ignored), func(a, b *yaml.Node) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	var names []string
	for _, n := range keys {
		if !slices.Contains(names, n.Value) {
			names = append(names, n.Value)
		}
	}
	r.Warn(keys[0], codes.Ignored, "Capstan ignores these keys of other programs: %s", strings.Join(names, ", "))
}
