package reading

import (
	"html"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Targets lists where the links and pictures of a text lead, each once and as a
// browser reads it: those of Markdown, in tables too, those of HTML, and bare
// addresses. Places within the text (#section) are none.
func (t Text) Targets() []Thing {
	var out []Thing
	seen := map[string]bool{}
	add := func(kind Kind, to string, line int) {
		to = strings.TrimSpace(decoded(to))
		if !strings.HasPrefix(to, "#") && !seen[to] {
			seen[to] = true
			out = append(out, Thing{Kind: kind, Text: to, Line: line})
		}
	}
	for _, b := range t.Blocks {
		for _, part := range b.parts() {
			for _, thing := range part.by(finders[:1]) {
				switch thing.Kind {
				case Links:
					to, _, _ := strings.Cut(thing.Text, ` "`) // its title is words
					add(Links, to, b.Line)
				case Images:
					_, to, _ := strings.Cut(strings.TrimSuffix(thing.Text, ")"), "](")
					to, _, _ = strings.Cut(to, ` "`)
					add(Images, to, b.Line)
				case Markup:
					inTags(thing.Text, func(to string) { add(Links, to, b.Line) })
				}
			}
		}
	}
	return out
}

// inTags calls add with where HTML leads: by an attribute, or by an address wherever
// it stands. What is commented out leads nowhere.
func inTags(raw string, add func(to string)) {
	if !strings.HasPrefix(raw, "<") {
		return
	}
	rest := attribute().ReplaceAllStringFunc(comment().ReplaceAllLiteralString(raw, " "), func(match string) string {
		_, value, _ := strings.Cut(match, "=")
		add(strings.Trim(strings.TrimSpace(value), `"'`))
		return " "
	})
	found, _ := addresses.take(rest)
	for _, to := range found {
		add(to)
	}
}

var attribute = patterns.Lazy(`(?i)[\s"'/](?:href|src)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+)`)

// decoded is an address without the entities of HTML; one that no semicolon ends may
// be a parameter (?a=1&copy=2).
func decoded(to string) string {
	if !strings.Contains(to, "&") {
		return to
	}
	return entity().ReplaceAllStringFunc(to, html.UnescapeString)
}
