package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// YAML is the verification as a file, with the keys of the protocol in their
// order. The same report always gives the same bytes, and [ParseReport] reads
// them back.
func (r Report) YAML() ([]byte, error) {
	var b bytes.Buffer
	text, err := json.Marshal(map[string]any{"verification": r})
	if err == nil {
		var root *yaml.Node
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if root, err = styled(jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true)), false); err == nil {
			err = errors.Join(e.Encode(root), e.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("verification: %w", err)
	}
	return b.Bytes(), nil
}

// styled is the value of JSON that comes next, in its order, as a file for people
// has it: in blocks, words as they are, and what is said in quotes.
func styled(d *jsontext.Decoder, said bool) (*yaml.Node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t.String()}
	switch t.Kind() {
	case '"':
		if said || n.Value == "" {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n, nil
	case '{':
		n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	case '[':
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	default:
		n.Tag = "!!bool"
		return n, nil
	}
	said = n.Kind == yaml.SequenceNode
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		inner, err := styled(d, said)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, inner)
		if n.Kind == yaml.MappingNode {
			said = len(n.Content)%2 == 1 && (inner.Value == "reason" || inner.Value == "followup_reason")
		}
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	_, err = d.ReadToken()
	return n, err
}
