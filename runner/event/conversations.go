package event

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/seed61713e19/capstan/runner/model"
)

// Conversations make the requests of events whole again that were read from
// JSON. Its zero value has heard nothing. It holds each message once, until
// [Conversations.Forget], and is for one goroutine.
type Conversations struct {
	said map[conversation][]model.Message
}

type conversation struct {
	run   string
	first Path
}

// Whole gives an event with all messages of its request; any other as it is. It
// wants the events in their order, whole ones too. An error says that those
// before have not been told: nothing can be made of a conversation that is
// joined in its middle but by reading the run from its beginning.
func (c *Conversations) Whole(e Event) (Event, error) {
	if e.Kind != ModelCalled || e.Request == nil || e.Conversation == "" {
		return e, nil
	}
	at := conversation{e.Run, e.Conversation}
	said := c.said[at]
	req := *e.Request
	switch {
	case !e.Cut:
		said = req.Messages[:len(req.Messages):len(req.Messages)]
	case e.Before < 0 || e.Before > len(said):
		return e, fmt.Errorf("event %d, %s: its conversation has %d earlier messages, and the events carry %d", e.Seq, e.Path, e.Before, len(said))
	case e.Before < len(said): // what follows them is another's
		said = append(said[:e.Before:e.Before], req.Messages...)
	default:
		said = append(said, req.Messages...)
	}
	if c.said == nil {
		c.said = map[conversation][]model.Message{}
	}
	c.said[at] = said
	req.Messages = said[:len(said):len(said)]
	e.Request, e.Cut = &req, false
	return e, nil
}

// Forget lets go of a run of which nothing more will be told. One that has
// finished may go on, where somebody resumes it.
func (c *Conversations) Forget(run string) {
	maps.DeleteFunc(c.said, func(at conversation, _ []model.Message) bool { return at.run == run })
}

// A Telling is how far the calls of one conversation have been told; its zero
// value is one of which nothing was.
type Telling struct {
	first    Path
	messages int
}

// Call gives the event of a call that has the request whole, with what says how
// much of it is new. It wants the calls in their order.
func (t *Telling) Call(e Event) Event {
	t.first = cmp.Or(t.first, e.Path)
	e.Conversation, e.Before = t.first, t.messages
	t.messages = len(e.Request.Messages)
	return e
}

// Back notes that the conversation stayed the same up to so many messages only.
func (t *Telling) Back(messages int) { t.messages = min(t.messages, messages) }
