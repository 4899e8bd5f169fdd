// Package exchanges is a conversation with a model as a row of exchanges, and
// which of them stay where it may weigh no more. It is pure: messages in, messages
// out.
//
// An exchange is one message of the model with all that was answered to it: a call
// with the results of its tools, a text with the feedback on it or with the turn's
// prompt. Only whole ones leave, so no result of a tool stands without its call,
// no call without its result, and the two sides still speak in turn. Four never
// leave: the opening, which ends with the instructions; the last text and what was
// said to it; the last refused candidate and its feedback; and the newest, which the
// model has not yet answered. Of the others the oldest leave first.
//
// The weight is an estimate, made of the messages alone: see [Weigh]. What an
// endpoint reports is not asked, so that a run that is done over leaves out the
// same.
package exchanges

import (
	"slices"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Talk is the conversation of one try. It is for one goroutine.
type Talk struct {
	thread *model.Thread
	list   []exchange // the first is what the conversation began with
	sums   []int      // what so many of the first messages weigh, as far as it was asked
}

// An exchange is a part of the messages.
type exchange struct {
	from int // the number of its first message
	kind kind
}

type kind int

const (
	opening kind = iota // what is said before the model is
	called              // calls and their results
	said                // a text, and what was said to it
	redone              // the same, where that is the feedback on a turn
	refused             // the same, where that is the feedback on a whole attempt
	summary             // stands for exchanges that have left
)

// Begin returns a conversation with its opening: the messages before the first answer.
func Begin(opening ...model.Message) *Talk {
	return &Talk{thread: model.NewThread(opening...), list: make([]exchange, 1)}
}

// Append adds a message. Requests repeat messages to the model at their beginning, so each
// of these ends a beginning that endpoints may cache.
func (t *Talk) Append(m model.Message) {
	m.CacheEnd = m.Role != model.Assistant
	if !m.CacheEnd {
		next := exchange{from: len(t.Messages()), kind: said}
		if len(m.ToolCalls) > 0 {
			next.kind = called
		}
		t.list = append(t.list, next)
	}
	t.thread.Append(m)
}

// Redone notes that the newest exchange is a turn's text that was refused, and the
// feedback on it.
func (t *Talk) Redone() { t.list[len(t.list)-1].kind = redone }

// Refused notes that the newest exchange is a candidate that was refused, and the
// feedback on it.
func (t *Talk) Refused() { t.list[len(t.list)-1].kind = refused }

// KeepLast removes the attempts before the newest refused exchange, or for a turn the try
// before it. It returns the number of unchanged messages at the beginning.
func (t *Talk) KeepLast() (same int) {
	newest := len(t.list) - 1
	kind, before := t.list[newest].kind, newest-1
	for before > 0 && t.list[before].kind != kind && (kind == refused || t.list[before].kind == called) {
		before--
	}
	if before <= 0 || t.list[before].kind != kind {
		return len(t.Messages())
	}
	first := 1
	if kind == redone {
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

// Messages is what is sent. The slice must not be changed.
func (t *Talk) Messages() []model.Message { return t.thread.Messages() }

// Thread keeps the messages' encoding. It is another one after [Talk.Leave].
func (t *Talk) Thread() *model.Thread { return t.thread }

// Weight is what the messages weigh, in tokens, estimated.
func (t *Talk) Weight() int { return t.upTo(len(t.Messages())) }

// upTo is what the first n messages weigh. Most conversations are never asked.
func (t *Talk) upTo(n int) int {
	if len(t.sums) == 0 {
		t.sums = []int{0}
	}
	for i := len(t.sums); i <= n; i++ {
		t.sums = append(t.sums, t.sums[i-1]+weigh(t.Messages()[i-1]))
	}
	return t.sums[n]
}

// weight is what the i-th exchange weighs.
func (t *Talk) weight(i int) int { return t.upTo(t.end(i)) - t.upTo(t.list[i].from) }

// end is the number of the message behind the i-th exchange.
func (t *Talk) end(i int) int {
	if i+1 < len(t.list) {
		return t.list[i+1].from
	}
	return len(t.Messages())
}

// stays tells of each exchange whether it never leaves: what the conversation began
// with, the newest, the last text, and the last that was refused with why. Of opening,
// said, refused, said, said and called, the second and the fourth may leave.
func (t *Talk) stays() []bool {
	stays := make([]bool, len(t.list))
	stays[0], stays[len(t.list)-1] = true, true
	for _, last := range [][]kind{{said, redone, refused}, {refused}} {
		for i, x := range slices.Backward(t.list) {
			if slices.Contains(last, x.kind) {
				stays[i] = true
				break
			}
		}
	}
	return stays
}

// Least is what the conversation weighs without all that can leave.
func (t *Talk) Least() int {
	sum := 0
	for i, stays := range t.stays() {
		if stays {
			sum += t.weight(i)
		}
	}
	return sum
}

// Past are the messages that can leave, in their order.
func (t *Talk) Past() []model.Message {
	var list []model.Message
	for i, stays := range t.stays() {
		if !stays {
			list = append(list, t.messages(i)...)
		}
	}
	return list
}

// messages are those of the i-th exchange.
func (t *Talk) messages(i int) []model.Message { return t.Messages()[t.list[i].from:t.end(i)] }

// Free is how much a summary may weigh where room is what the conversation may:
// what is left by all that never leaves, and by the remark behind the summary.
func (t *Talk) Free(room int, remark string) int {
	return room - t.Least() - weigh(model.Message{Content: remark}) - aroundMessage
}

// Leave has the oldest exchanges that can leave do so until no more than room is
// left of the weight, or nothing more can leave, and gives the number of messages
// that have left.
func (t *Talk) Leave(room int) (left int) {
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

// Sum puts a text of the model's, and what is said to it, in the place of all
// that can leave, and gives the number of messages that have left.
func (t *Talk) Sum(text, remark string) (left int) {
	stays := t.stays()
	for i, stay := range stays {
		if !stay {
			left += len(t.messages(i))
		}
	}
	t.keep(stays, []model.Message{{Role: model.Assistant, Content: text}, {Role: model.User, Content: remark}})
	return left
}

// keep begins the conversation anew with the exchanges that stay, and what stands
// for the others behind the first.
func (t *Talk) keep(stays []bool, instead []model.Message) {
	own := &Talk{thread: model.NewThread()}
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
