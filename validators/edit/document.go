package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The limits of YAML that is read: a tree takes some hundred times its text.
const (
	maxYAML  = 1 << 20 // bytes
	maxDepth = 60
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// document reads one strict YAML document: UTF-8, no second document, no key
// twice, no aliases, no tags of its own. It is nil where something is wrong.
func (r *reader) document(text []byte) *yaml.Node {
	text = bytes.TrimPrefix(text, byteOrderMark)
	switch {
	case len(text) > maxYAML:
		r.at(nil, "%d bytes are too many; there may be %d", len(text), maxYAML)
		return nil
	case !utf8.Valid(text):
		r.at(nil, "not UTF-8 text")
		return nil
	}
	root := r.only(text)
	if root == nil {
		return nil
	}
	before := len(r.wrong)
	r.strict(root, 0)
	if len(r.wrong) > before {
		return nil
	}
	return root
}

// only decodes the one document of a text.
func (r *reader) only(text []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	switch err := decode(d, &first); {
	case errors.Is(err, io.EOF):
		r.at(nil, "the file is empty")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := decode(d, &second); {
	case err == nil:
		r.at(&second, "a second document begins here; there may be one")
		return nil
	case !errors.Is(err, io.EOF):
		r.syntax(err)
		return nil
	}
	return first.Content[0]
}

// decode guards against panics of the YAML library on hostile texts.
func decode(d *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	if err = d.Decode(n); err == nil && len(n.Content) == 0 {
		return io.EOF
	}
	return err
}

// syntax notes what the YAML library says, at the line it names.
func (r *reader) syntax(err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	at := &yaml.Node{Line: 1, Column: 1}
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if _, err := fmt.Sscan(number, &at.Line); err == nil {
				message = what
			}
		}
	}
	r.at(at, "not YAML: %s", message)
}

// strict notes what this package does not take of YAML.
func (r *reader) strict(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		r.at(n, "nested more than %d deep", maxDepth)
		return
	case n.Kind == yaml.AliasNode:
		r.at(n, "an alias, *%s: write the value out", n.Value)
		return
	case !plainTags[n.ShortTag()]:
		r.at(n, "the tag %s means nothing here", n.ShortTag())
		return
	}
	if n.Kind == yaml.MappingNode {
		r.keys(n)
	}
	for _, c := range n.Content {
		r.strict(c, depth+1)
	}
}

var plainTags = map[string]bool{
	"!!map": true, "!!seq": true, "!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!timestamp": true,
}

func (r *reader) keys(n *yaml.Node) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			r.at(key, "a key must be a word")
			continue
		}
		if line, twice := seen[key.Value]; twice {
			r.at(key, "key %q stands at line %d already", brief(key.Value), line)
		}
		seen[key.Value] = key.Line
	}
}
