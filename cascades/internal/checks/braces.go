package checks

import (
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// A Template is a template that may read the inputs.
type Template struct {
	Source string
	At     func(line, column int) syntax.Position
}

var inBraces = patterns.Lazy(`\$?\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// braces warns about {name} and ${name} with the name of an input, which templates do not
// replace. CrewAI, LangChain and shells replace them.
func braces(c *Cascade, r *findings.Report) {
	if len(c.Declared) == 0 {
		return
	}
	for _, t := range c.Templates {
		for _, m := range inBraces().FindAllStringSubmatchIndex(t.Source, -1) {
			name, before := t.Source[m[2]:m[3]], t.Source[:m[0]]
			if !c.Declared[name] || strings.HasSuffix(before, "{") || strings.HasPrefix(t.Source[m[1]:], "}") {
				continue
			}
			line := strings.Count(before, "\n") + 1
			column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
			r.WarnAt(t.At(line, column), codes.Meaning, "template: %s stays as it is: write {{ input.%s }} for the input", t.Source[m[0]:m[1]], name)
		}
	}
}
