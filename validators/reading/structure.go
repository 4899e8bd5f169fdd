package reading

import (
	"html"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Outline lists the headings of a text by their levels: "##".
func (t Text) Outline() []Thing {
	return t.forms(Heading, func(b Block) string { return strings.Repeat("#", b.Level) })
}

// Items lists the items of a text's lists by kind and depth: "- 1", "1. 2".
func (t Text) Items() []Thing {
	return t.forms(Item, func(b Block) string { return strings.Repeat("  ", b.Level-1) + b.label })
}

// Fences lists the code blocks of a text by their languages: "```go".
func (t Text) Fences() []Thing {
	return t.forms(Fence, func(b Block) string {
		first, _, _ := strings.Cut(b.Things[0].Text, "\n")
		return first
	})
}

func (t Text) forms(form Form, name func(Block) string) []Thing {
	var out []Thing
	for _, b := range t.Blocks {
		if b.Form == form {
			out = append(out, Thing{Text: name(b), Line: b.Line})
		}
	}
	return out
}

// Placeholders lists the placeholders of a text in their order, those in HTML and
// where links and pictures lead as well: {{ name }} as {{name}}, and <name> unless
// something says </name>.
func (t Text) Placeholders() []Thing {
	var out []Thing
	add := func(words string, line int) {
		_, words = addresses.take(words)
		found, _ := placeholders.take(words)
		for _, text := range found {
			out = append(out, Thing{Kind: Placeholders, Text: unpadded.Replace(oneLine(text)), Line: line})
		}
	}
	closed := t.closed()
	for _, b := range t.Blocks {
		for _, part := range b.parts() {
			add(part.Words, b.Line)
			for _, thing := range part.Things {
				switch thing.Kind {
				case Links, Images:
					add(thing.Text, b.Line)
				case Markup:
					if m := lone().FindStringSubmatch(thing.Text); m != nil && !closed[m[1]] {
						add(thing.Text, b.Line)
						continue
					}
					bare := code().ReplaceAllLiteralString(comment().ReplaceAllLiteralString(thing.Text, " "), " ")
					add(html.UnescapeString(unangled.Replace(bare)), b.Line)
				}
			}
		}
	}
	return out
}

var (
	unpadded = strings.NewReplacer("{ ", "{", " }", "}")
	unangled = strings.NewReplacer("<", " ", ">", " ")
	lone     = patterns.Lazy(`^<([a-z]\w*)[\w ]*>$`)
	tagEnd   = patterns.Lazy(`</([a-z]\w*)\s*>`)
)

// closed are the names of the tags that need no end, and of those that have one.
func (t Text) closed() map[string]bool {
	names := map[string]bool{"br": true, "hr": true, "wbr": true, "img": true, "input": true, "p": true, "li": true, "td": true, "tr": true, "th": true, "dt": true, "dd": true}
	for _, b := range t.Blocks {
		for _, part := range b.parts() {
			for _, thing := range part.Things {
				if thing.Kind != Markup {
					continue
				}
				for _, m := range tagEnd().FindAllStringSubmatch(thing.Text, -1) {
					names[m[1]] = true
				}
			}
		}
	}
	return names
}
