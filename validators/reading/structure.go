package reading

import "strings"

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
