package anthropic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// A turn is the content of consecutive messages of one role, because the roles must
// alternate.
type turn struct {
	Role    model.Role `json:"role"`
	Content []*block   `json:"content"`
}

// A block is a content block.
type block struct {
	json   []byte // an object
	fixed  bool   // a block of thinking, which cannot have a cache mark
	marked bool
}

// MarshalJSON returns the block with its cache mark.
func (b *block) MarshalJSON() ([]byte, error) {
	if !b.marked {
		return b.json, nil
	}
	return append(b.json[:len(b.json)-1:len(b.json)-1], `,"cache_control":{"type":"ephemeral"}}`...), nil
}

// The limits of the prompt cache, from platform.claude.com, prompt caching.
const (
	maxMarks = 4  // in one request
	lookBack = 20 // blocks that a mark compares with earlier marks, its own included
)

// A conversation is the end of a request.
type conversation struct {
	System   []*block `json:"system,omitempty"`
	Messages []turn   `json:"messages"`
}

// An end is the last block of a beginning that other requests share.
type end struct {
	*block
	position int // among all blocks
	turn     int // 0 in the system prompt
}

// conversation returns the system prompt and the turns of a query. The last block of a
// message with CacheEnd has a cache mark, within the limits of [setMarks].
func (m messages) conversation(q protocol.Query) (c conversation) {
	var ends []end
	count := 0
	for i, message := range q.Request.Messages {
		blocks := blocksOf(message, message.Provider == m.provider && !q.Without(protocol.Extras))
		count += len(blocks)
		if message.Role == model.System && len(c.Messages) == 0 && i < len(q.Request.Messages)-1 {
			c.System = append(c.System, blocks...)
			ends = appendEnd(ends, message, c.System, end{position: count})
			continue
		}
		role := model.User
		if message.Role == model.Assistant {
			role = model.Assistant
		}
		if n := len(c.Messages); n == 0 || c.Messages[n-1].Role != role {
			if len(blocks) == 0 { // the protocol refuses empty messages
				continue
			}
			c.Messages = append(c.Messages, turn{Role: role})
		}
		last := &c.Messages[len(c.Messages)-1]
		last.Content = append(last.Content, blocks...)
		ends = appendEnd(ends, message, last.Content, end{position: count, turn: len(c.Messages)})
	}
	setMarks(ends)
	return c
}

// appendEnd appends the last block that can have a mark if m ends a cached beginning. The
// blocks are those up to next.
func appendEnd(ends []end, m model.Message, blocks []*block, next end) []end {
	if !m.CacheEnd {
		return ends
	}
	for _, b := range slices.Backward(blocks) {
		if next.position--; b.fixed {
			continue
		}
		if n := len(ends); n == 0 || ends[n-1].block != b {
			next.block = b
			ends = append(ends, next)
		}
		break
	}
	return ends
}

// setMarks marks the ends. If there are more than maxMarks, it marks the first three and the
// last. If the turn before the last mark is out of its reach, the end of that turn replaces
// the third.
func setMarks(ends []end) {
	if n := len(ends); n > maxMarks {
		last, third := ends[n-1], ends[2]
		for _, e := range slices.Backward(ends) {
			if e.turn < last.turn {
				if last.position-e.position >= lookBack {
					third = e
				}
				break
			}
		}
		ends = []end{ends[0], ends[1], third, last}
	}
	for _, e := range ends {
		e.marked = true
	}
}

// blocksOf returns the blocks of a message. If the answer is the provider's own, its
// blocks are unchanged.
func blocksOf(m model.Message, own bool) (list []*block) {
	if m.Role == model.ToolReply {
		return []*block{objectOf(map[string]any{"type": "tool_result", "tool_use_id": callID(m.ToolCallID), "content": m.Content})}
	}
	if own {
		if list = returned(m.Extra); len(list) > 0 {
			return list
		}
	}
	if strings.TrimSpace(m.Content) != "" { // the protocol refuses blank texts
		list = append(list, &block{json: append(jsonvalue.AppendText([]byte(`{"type":"text","text":`), m.Content), '}')})
	}
	for _, c := range m.ToolCalls {
		list = append(list, objectOf(map[string]any{"type": "tool_use", "id": callID(c.ID), "name": c.Name, "input": json.RawMessage(c.Object())}))
	}
	return list
}

func objectOf(members map[string]any) *block {
	text, err := protocol.Encode(members)
	if err != nil { // arguments that the caller did not check
		text, _ = protocol.Encode(map[string]any{"type": "text", "text": err.Error()})
	}
	return &block{json: text}
}

// returned returns the blocks of an earlier answer that its extra has.
func returned(extra model.Extra) (list []*block) {
	if !extra.Has(blocksField) {
		return nil
	}
	v, _ := jsontree.Parse(context.Background(), []byte(extra), jsontree.Options{}) // made by [model.ExtraOf]
	for name, content := range v.Members() {
		if string(name) != blocksField {
			continue
		}
		for element := range content.Elements() {
			kind := textOf(element, "type")
			list = append(list, &block{json: element.Raw(), fixed: kind == "thinking" || kind == "redacted_thinking"})
		}
	}
	return list
}

// blocksField is the member of an extra with the blocks of an answer. Refusals of such
// blocks contain the word.
const blocksField = "thinking"

// textOf returns a text member of an object, "" if there is none.
func textOf(v jsontree.Value, name string) (text string) {
	for member, value := range v.Members() {
		if string(member) == name {
			text, _ = value.Text()
		}
	}
	return text
}

// callID returns the id of a call, which must consist of letters, digits, _ and -. An id
// with other characters is replaced by a hash.
func callID(id string) string {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	}
	if id != "" && !strings.ContainsFunc(id, other) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}
