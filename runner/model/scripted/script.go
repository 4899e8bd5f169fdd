// Package scripted is a model that answers from a file: for trying, teaching
// and testing without a key.
//
// A script is a YAML list of entries. A request takes the first unconsumed
// entry whose filters all match:
//
//	# filters: phase, attempt, turn, contains (text anywhere in the request)
//	- {phase: draft, attempt: 1, reply: "too short"}
//	- {phase: draft, reply_file: good.md}
//	- {validator: tone, reply: '{"valid": true, "reason": "warm"}'}
//	- {role: evaluator, reply: '{"winner": 1, "reason": "shorter"}'}
//	- {phase: research, tool_calls: [{name: read_file, arguments: {path: a.txt}}]}
//	- {phase: polish, error: {status: 429, retry_after: 1}}
//	- {phase: extra, reply: "again", times: 3}    # or times: always
//
// An entry without validator or role matches a phase's own calls only. Any
// entry may have usage: {input_tokens, output_tokens, cost_usd} and delay, a
// duration such as 200ms.
package scripted

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Script is a [model.Model] that answers with its entries. Make one with
// [Parse]. It is safe for concurrent use.
type Script struct {
	name    string
	entries []*entry // which never change

	// Sleep waits out the delay of an entry; nil means that it takes the time
	// it says. It returns an error when ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error

	mu    sync.Mutex
	taken map[*entry]int // how often, guarded by mu
}

// Rewound is the script from its beginning, of which nothing was taken: for a run
// of its own. The entries are not read again.
func (s *Script) Rewound() *Script { return &Script{name: s.name, entries: s.entries, Sleep: s.Sleep} }

// Call answers with the first unconsumed entry that matches r. An error entry
// that a real endpoint's client would try again (408, 409, 429, 5xx) is tried
// again: the next entry that matches answers, up to [model.Tries] in all and
// without waiting. A request that no entry matches is a [model.Failure] of the
// class Unscripted, whose message shows the request and the entries left.
//
// Every entry that is consumed is a call. Tokens that an entry does not give
// are estimated, and cost is 0 where it gives none.
func (s *Script) Call(ctx context.Context, r model.Request) (model.Response, error) {
	var spent model.Usage
	var last *model.Failure
	for range model.Tries {
		if ctx.Err() != nil {
			return model.Response{Usage: spent}, context.Cause(ctx)
		}
		e := s.take(r)
		if e == nil {
			return model.Response{Usage: spent}, s.unscripted(r, last)
		}
		if err := s.wait(ctx, e.delay); err != nil {
			return model.Response{Usage: spent}, err
		}
		spent = spent.Add(e.spent(r))
		if e.failure == nil {
			e.show(r.OnText)
			return e.response(r, spent), nil
		}
		if last = new(*e.failure); !last.Temporary() {
			break
		}
	}
	return model.Response{Usage: spent}, last
}

// Recall consumes what Call would have: a run that goes on finds the script
// as it left it.
func (s *Script) Recall(r model.Request) {
	for range model.Tries {
		e := s.take(r)
		if e == nil || e.failure == nil || !e.failure.Temporary() {
			return
		}
	}
}

// Left describes the entries that were not consumed as often as they say, in
// the order of the file. One with times: always is never left.
func (s *Script) Left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for _, e := range s.entries {
		if n := s.left(e); n > 0 && !e.always {
			left = append(left, e.tell(n))
		}
	}
	return left
}

// take consumes the first entry that matches r; nil if there is none.
func (s *Script) take(r model.Request) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if s.left(e) == 0 || e.mismatch(r) != "" {
			continue
		}
		if !e.always {
			if s.taken == nil {
				s.taken = map[*entry]int{}
			}
			s.taken[e]++
		}
		return e
	}
	return nil
}

// left is how often the entry can still be taken. The caller holds mu.
func (s *Script) left(e *entry) int { return e.times - s.taken[e] }

func (s *Script) wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	if s.Sleep != nil {
		return s.Sleep(ctx, d)
	}
	return model.Wait(ctx, d)
}

func (e *entry) response(r model.Request, spent model.Usage) model.Response {
	resp := model.Response{Text: e.reply, ToolCalls: e.calls(r), Model: r.Model, Finish: "stop", Provider: "scripted", Usage: spent}
	if len(resp.ToolCalls) > 0 {
		resp.Finish = "tool_calls"
	}
	return resp
}

// calls are the entry's tool calls. Their ids are the same whenever the same
// request comes, and differ along a conversation.
func (e *entry) calls(r model.Request) []model.ToolCall {
	if len(e.toolCalls) == 0 {
		return nil
	}
	calls := make([]model.ToolCall, len(e.toolCalls))
	for i, c := range e.toolCalls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", len(r.Messages), i+1)
		}
		calls[i] = c
	}
	return calls
}

func (e *entry) spent(r model.Request) model.Usage {
	if e.usage != nil {
		return *e.usage
	}
	if e.failure != nil {
		return model.Usage{Calls: 1}
	}
	return model.Counted(r, model.Response{Text: e.reply, ToolCalls: e.toolCalls})
}

// show gives the reply to on in four pieces, as a stream would.
func (e *entry) show(on func(string)) {
	if on == nil || e.reply == "" {
		return
	}
	rest := e.reply
	for part := max(len(rest)/4, 1); rest != ""; {
		n := min(part, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		on(rest[:n])
		rest = rest[n:]
	}
}
