package event

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/seed61713e19/capstan/runner/model"
)

// Conversations restores the full requests of events that were read from JSON.
// It stores each message once, until [Conversations.Forget]. The zero value is
// ready to use. It must not be used by several goroutines at once.
type Conversations struct {
	messages map[conversation][]model.Message
}

type conversation struct {
	run   string
	first Path
}

// Restore returns a request event with all messages of its conversation. It
// returns other events unchanged. The caller must pass all events in order,
// complete ones included. Restore returns an error if it has not seen the
// earlier messages. The caller must then read the run from its beginning.
func (c *Conversations) Restore(e Event) (Event, error) {
	if e.Kind != ModelCalled || e.Request == nil || e.Conversation == "" {
		return e, nil
	}
	at := conversation{e.Run, e.Conversation}
	messages := c.messages[at]
	req := *e.Request
	switch {
	case !e.Partial:
		messages = req.Messages[:len(req.Messages):len(req.Messages)]
	case e.Before < 0 || e.Before > len(messages):
		return e, fmt.Errorf("event %d, %s: its conversation has %d earlier messages, and the events carry %d", e.Seq, e.Path, e.Before, len(messages))
	case e.Before < len(messages): // the later messages belong to another branch
		messages = append(messages[:e.Before:e.Before], req.Messages...)
	default:
		messages = append(messages, req.Messages...)
	}
	if c.messages == nil {
		c.messages = map[conversation][]model.Message{}
	}
	c.messages[at] = messages
	req.Messages = messages[:len(messages):len(messages)]
	e.Request, e.Partial = &req, false
	return e, nil
}

// Forget drops the messages of a run. Call it when no more events of the run
// will follow. A finished run may still be resumed.
func (c *Conversations) Forget(run string) {
	maps.DeleteFunc(c.messages, func(at conversation, _ []model.Message) bool { return at.run == run })
}

// A Delta records how many messages of one conversation were already reported.
// The zero value is ready for a new conversation.
type Delta struct {
	first    Path
	messages int
}

// Call returns the event of a call with the number of messages that earlier
// events reported. The request must be complete, and the calls must be in
// order.
func (t *Delta) Call(e Event) Event {
	t.first = cmp.Or(t.first, e.Path)
	e.Conversation, e.Before = t.first, t.messages
	t.messages = len(e.Request.Messages)
	return e
}

// Truncate records that only the first messages of the conversation are
// unchanged.
func (t *Delta) Truncate(messages int) { t.messages = min(t.messages, messages) }
