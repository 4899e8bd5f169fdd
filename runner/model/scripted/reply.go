package scripted

import (
	"bytes"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Reply is an entry for [Format]. Empty filters are omitted.
type Reply struct {
	Note string // a comment above the entry

	Phase, Validator, Role, Contains string
	Attempt                          int // 0 for any attempt
	Turn                             *int

	Text      string
	ToolCalls []model.ToolCall
	Failure   *model.Failure // the error, instead of an answer
	Times     int            // the number of uses; 0 means 1, and [Always] means no limit
}

// Always is a number of [Reply.Times] without a limit.
const Always = -1

// Format returns a script with the replies and a comment at its beginning.
// [Parse] reads it.
func Format(comment string, list []Reply) ([]byte, error) {
	entries := &yaml.Node{Kind: yaml.SequenceNode, HeadComment: comment}
	for _, r := range list {
		entries.Content = append(entries.Content, r.node())
	}
	if len(list) == 0 {
		entries.Style = yaml.FlowStyle
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{entries}})
	return b.Bytes(), err
}

func (r Reply) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, HeadComment: r.Note}
	add := func(key string, value *yaml.Node) {
		n.Content = append(n.Content, plainNode("!!str", key), value)
	}
	for _, filter := range []struct{ key, value string }{
		{"phase", r.Phase}, {"validator", r.Validator}, {"role", r.Role}, {"contains", r.Contains},
	} {
		if filter.value != "" {
			add(filter.key, textNode(filter.value))
		}
	}
	if r.Attempt > 0 {
		add("attempt", plainNode("!!int", strconv.Itoa(r.Attempt)))
	}
	if r.Turn != nil {
		add("turn", plainNode("!!int", strconv.Itoa(*r.Turn)))
	}
	switch {
	case r.Failure != nil:
		add("error", failureNode(r.Failure))
	case len(r.ToolCalls) == 0 || r.Text != "":
		add("reply", textNode(r.Text))
	}
	if r.Failure == nil && len(r.ToolCalls) > 0 {
		add("tool_calls", callsNode(r.ToolCalls))
	}
	switch {
	case r.Times == Always:
		add("times", plainNode("!!str", "always"))
	case r.Times > 1:
		add("times", plainNode("!!int", strconv.Itoa(r.Times)))
	}
	return n
}

func failureNode(f *model.Failure) *yaml.Node {
	status := f.Status
	if status < 400 || status > 599 {
		status = 503 // no reply of an endpoint
	}
	return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
		plainNode("!!str", "status"), plainNode("!!int", strconv.Itoa(status)),
		plainNode("!!str", "message"), textNode(f.Message),
	}}
}

// callsNode returns the calls with their arguments as text.
func callsNode(calls []model.ToolCall) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range calls {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			plainNode("!!str", "name"), textNode(c.Name),
			plainNode("!!str", "arguments"), textNode(c.Arguments),
		}})
	}
	return list
}

func plainNode(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// textNode returns a text as a block of lines if YAML preserves it. The library
// does not preserve
// blanks at the beginning of a block and carriage returns.
func textNode(text string) *yaml.Node {
	n := plainNode("!!str", text)
	if !bytes.ContainsRune([]byte(text), '\n') {
		return n
	}
	n.Style = yaml.LiteralStyle
	var back []string
	written, err := yaml.Marshal(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}})
	if err != nil || yaml.Unmarshal(written, &back) != nil || len(back) != 1 || back[0] != text {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
