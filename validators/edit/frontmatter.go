package edit

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// A page is a text as its front matter, a mapping or nil, and the rest.
type page struct {
	matter *yaml.Node
	body   string
}

// page splits a text. What stands between the lines --- at its beginning and
// is no YAML mapping is a problem of the reader, and text.
func (r *reader) page(text string) page {
	matter, body, found := frontMatter(text)
	if !found {
		return page{body: text}
	}
	if strings.TrimSpace(matter) == "" {
		return page{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, body}
	}
	n := r.document([]byte(matter))
	switch {
	case n == nil:
		return page{body: text}
	case n.Kind != yaml.MappingNode:
		r.at(n, "front matter must be a mapping, not %s", kind(n))
		return page{body: text}
	}
	return page{n, body}
}

// frontMatter finds what stands between the first line of a text, "---", and
// the next such line.
func frontMatter(text string) (matter, body string, found bool) {
	first, rest, more := strings.Cut(text, "\n")
	if !more || strings.TrimRight(first, " \t") != "---" {
		return "", "", false
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		end := min(at+len(line)+1, len(rest))
		if l := strings.TrimRight(line, " \t"); l == "---" || l == "..." {
			return rest[:at], rest[end:], true
		}
		at = end
	}
	return "", "", false
}
