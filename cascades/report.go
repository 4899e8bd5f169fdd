package cascades

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/tool"
)

// Bounds of what is reported, so that a file of a million mistakes is answered
// as fast as one of ten.
const (
	maxFound       = 1000
	maxComparisons = 100_000 // of words with those that could have been meant
)

func (p *parser) position(n *yaml.Node) Position {
	if n == nil {
		return Position{p.file, 1, 1}
	}
	return Position{p.file, max(n.Line, 1), max(n.Column, 1)}
}

func (p *parser) report(n *yaml.Node, code, format string, args ...any) {
	p.reportAt(p.position(n), code, format, args...)
}

func (p *parser) reportAt(at Position, code, format string, args ...any) {
	p.note(Wrong, at, code, format, args...)
}

// warn reports what a file may say and should not.
func (p *parser) warn(n *yaml.Node, code, format string, args ...any) {
	p.note(Warning, p.position(n), code, format, args...)
}

func (p *parser) note(severity string, at Position, code, format string, args ...any) {
	switch {
	case p.nodes > maxNodes || len(p.found) > maxFound:
		return
	case len(p.found) == maxFound:
		code, format, args = CodeTooLarge, "more than %d mistakes: the rest is not told", []any{maxFound}
	}
	p.found = append(p.found, Diagnostic{Position: at, Code: code, Message: fmt.Sprintf(format, args...), Severity: severity})
}

// suggest adds what was probably meant to the last diagnostic.
func (p *parser) suggest(word string, known func() []string) {
	if p.compared > maxComparisons || len(p.found) > maxFound || p.nodes > maxNodes {
		return
	}
	words := known()
	p.compared += len(words)
	if p.compared <= maxComparisons {
		p.found[len(p.found)-1].Suggestion = tool.Nearest(word, words)
	}
}
