// Package exchanges stores a conversation with a model as a list of exchanges
// and shortens it to a maximum weight. It is pure: messages in, messages out.
//
//	c := exchanges.Begin(instructions...)
//	c.Append(reply)
//	c.Append(feedback)
//	if c.Weight() > room {
//		c.DropOldest(room)
//	}
//
// An exchange is one message of the model with everything that answers it. That is a
// call with the results of its tools, or a text with the feedback or the next turn's
// prompt. Only whole exchanges are removed. So a result always has its call, a call has
// its result, and the roles still alternate.
//
// Four exchanges are never removed. They are the opening, which ends with the
// instructions, the last text with its answer, the last rejected candidate with its
// feedback, and the newest one. The oldest of the others are removed first.
//
// The weight is an estimate from the messages alone, see [Weigh]. It ignores
// the counts of endpoints, so that a replayed run removes the same messages.
// Begin with [Conversation].
package exchanges

import (
	"slices"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Conversation is the conversation of one attempt. It is not safe for
// concurrent use.
type Conversation struct {
	thread *model.Thread
	list   []exchange // the first one is the opening
	sums   []int      // sums[n] is the weight of the first n messages, filled on demand
}

// An exchange is a range of messages.
type exchange struct {
	from int // the index of its first message
	kind kind
}

type kind int

const (
	opening      kind = iota // messages before the model's first one
	called                   // calls and their results
	answered                 // a text and its answer
	turnRejected             // the same, if the answer rejects a turn
	rejected                 // the same, if the answer rejects a whole attempt
	summary                  // replaces removed exchanges
)

// Begin returns a conversation with its opening: the messages before the first
// answer.
func Begin(opening ...model.Message) *Conversation {
	return &Conversation{thread: model.NewThread(opening...), list: make([]exchange, 1)}
}

// Append adds a message. Requests repeat messages to the model at their beginning.
// Endpoints may cache a beginning that ends with such a message.
func (t *Conversation) Append(m model.Message) {
	m.CacheEnd = m.Role != model.Assistant
	if !m.CacheEnd {
		next := exchange{from: len(t.Messages()), kind: answered}
		if len(m.ToolCalls) > 0 {
			next.kind = called
		}
		t.list = append(t.list, next)
	}
	t.thread.Append(m)
}

// MarkTurnRejected records that the newest exchange is a rejected text of a
// turn with its feedback.
func (t *Conversation) MarkTurnRejected() { t.list[len(t.list)-1].kind = turnRejected }

// MarkRejected records that the newest exchange is a rejected candidate with
// its feedback.
func (t *Conversation) MarkRejected() { t.list[len(t.list)-1].kind = rejected }

// KeepLast removes the attempts before the newest rejected exchange, or for a
// turn the try before it. It returns the number of unchanged messages at the
// beginning.
func (t *Conversation) KeepLast() (same int) {
	newest := len(t.list) - 1
	kind, before := t.list[newest].kind, newest-1
	for before > 0 && t.list[before].kind != kind && (kind == rejected || t.list[before].kind == called) {
		before--
	}
	if before <= 0 || t.list[before].kind != kind {
		return len(t.Messages())
	}
	first := 1
	if kind == turnRejected {
		for first = before; t.list[first-1].kind == called; first-- {
		}
	}
	same = t.list[first].from
	stays := make([]bool, len(t.list))
	for i := range stays {
		stays[i] = i < first || i > before
	}
	t.keep(stays, nil)
	return same
}

// Messages returns the messages of the next request. The slice must not be
// changed.
func (t *Conversation) Messages() []model.Message { return t.thread.Messages() }

// Thread returns the thread, which caches the messages' encoding. Removing
// messages creates a new thread.
func (t *Conversation) Thread() *model.Thread { return t.thread }

// Weight returns the estimated weight of the messages in tokens.
func (t *Conversation) Weight() int { return t.weightOfFirst(len(t.Messages())) }

// weightOfFirst returns the weight of the first n messages. It computes sums on
// demand, because most conversations never need them.
func (t *Conversation) weightOfFirst(n int) int {
	if len(t.sums) == 0 {
		t.sums = []int{0}
	}
	for i := len(t.sums); i <= n; i++ {
		t.sums = append(t.sums, t.sums[i-1]+weigh(t.Messages()[i-1]))
	}
	return t.sums[n]
}

// weight returns the weight of the i-th exchange.
func (t *Conversation) weight(i int) int {
	return t.weightOfFirst(t.end(i)) - t.weightOfFirst(t.list[i].from)
}

// end returns the index after the last message of the i-th exchange.
func (t *Conversation) end(i int) int {
	if i+1 < len(t.list) {
		return t.list[i+1].from
	}
	return len(t.Messages())
}

// stays reports for each exchange whether it is never removed: the opening, the newest,
// the last text and the last rejected candidate. In the list opening, text, rejected,
// text, text, call, the second and the fourth may be removed.
func (t *Conversation) stays() []bool {
	stays := make([]bool, len(t.list))
	stays[0], stays[len(t.list)-1] = true, true
	for _, last := range [][]kind{{answered, turnRejected, rejected}, {rejected}} {
		for i, x := range slices.Backward(t.list) {
			if slices.Contains(last, x.kind) {
				stays[i] = true
				break
			}
		}
	}
	return stays
}

// MinWeight returns the weight of the conversation without all removable
// exchanges.
func (t *Conversation) MinWeight() int {
	sum := 0
	for i, stays := range t.stays() {
		if stays {
			sum += t.weight(i)
		}
	}
	return sum
}

// Removable returns the messages that may be removed, in order.
func (t *Conversation) Removable() []model.Message {
	var list []model.Message
	for i, stays := range t.stays() {
		if !stays {
			list = append(list, t.messages(i)...)
		}
	}
	return list
}

// messages returns the messages of the i-th exchange.
func (t *Conversation) messages(i int) []model.Message { return t.Messages()[t.list[i].from:t.end(i)] }

// SummaryRoom returns the maximum weight of a summary if the conversation may
// weigh room. It subtracts everything that is never removed, and the remark
// after the summary.
func (t *Conversation) SummaryRoom(room int, remark string) int {
	return room - t.MinWeight() - weigh(model.Message{Content: remark}) - aroundMessage
}

// DropOldest removes the oldest removable exchanges until the weight is at most room.
// It stops when only fixed exchanges are left. It returns the number of removed
// messages.
func (t *Conversation) DropOldest(room int) (left int) {
	stays := t.stays()
	weight := t.Weight()
	for i := range t.list {
		if !stays[i] && weight > room {
			weight, left = weight-t.weight(i), left+len(t.messages(i))
		} else {
			stays[i] = true
		}
	}
	if left > 0 {
		t.keep(stays, nil)
	}
	return left
}

// Summarize replaces all removable exchanges by a summary of the model and a
// remark on it. It returns the number of removed messages.
func (t *Conversation) Summarize(text, remark string) (left int) {
	stays := t.stays()
	for i, stay := range stays {
		if !stay {
			left += len(t.messages(i))
		}
	}
	t.keep(stays, []model.Message{{Role: model.Assistant, Content: text}, {Role: model.User, Content: remark}})
	return left
}

// keep rebuilds the conversation from the exchanges that stay. The messages in
// instead follow the first of them.
func (t *Conversation) keep(stays []bool, instead []model.Message) {
	own := &Conversation{thread: model.NewThread()}
	for i, x := range t.list {
		if stays[i] {
			own.list = append(own.list, exchange{from: len(own.Messages()), kind: x.kind})
			own.thread.Append(t.messages(i)...)
		}
		if i == 0 && instead != nil {
			own.list = append(own.list, exchange{from: len(own.Messages()), kind: summary})
			own.thread.Append(instead...)
		}
	}
	*t = *own
}
