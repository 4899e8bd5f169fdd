// Package scripted answers requests from a file, for examples and tests without
// a key.
//
// A script is a YAML list of entries. A request gets the first unused entry
// whose filters match:
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
// An entry without validator or role matches only the calls of phases. Each
// entry may have
// usage: {input_tokens, output_tokens, cost_usd} and a delay such as 200ms.
// [Parse] reads a script,
// and [Script.Call] answers a request. Begin with script.go.
package scripted

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Script is a [model.Model] that answers with its entries. [Parse] creates
// one. It is safe for
// concurrent use.
type Script struct {
	name    string
	entries []*entry // never changed

	// Sleep waits for the delay of an entry. It returns an error if ctx ends
	// first. The default is
	// [model.Wait].
	Sleep func(ctx context.Context, d time.Duration) error

	mu    sync.Mutex
	taken map[*entry]int // the number of uses, guarded by mu
}

// Rewound returns the script with all entries unused. It does not read the file
// again.
func (s *Script) Rewound() *Script { return &Script{name: s.name, entries: s.entries, Sleep: s.Sleep} }

// Call answers with the first unused entry that matches the request. If the
// entry has an error
// that a client would retry (408, 409, 429, 5xx), Call uses the next matching
// entry, without
// waiting. Maximum: [model.Tries]. If no entry matches, the error is a
// [model.Failure] of the class
// Unscripted, with the request and the unused entries.
//
// Each used entry counts as one call. Tokens that an entry does not have are
// estimated. The default
// cost is 0.
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

// Recall uses the same entries as Call, so that a resumed run continues with
// the next one.
func (s *Script) Recall(r model.Request) {
	for range model.Tries {
		e := s.take(r)
		if e == nil || e.failure == nil || !e.failure.Temporary() {
			return
		}
	}
}

// Left describes the entries that are not used up, in the order of the file. It
// omits entries with
// times: always.
func (s *Script) Left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for _, e := range s.entries {
		if n := s.left(e); n > 0 && !e.always {
			left = append(left, e.describe(n))
		}
	}
	return left
}

// take uses the first entry that matches the request. It returns nil if there
// is none.
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

// left returns the remaining uses of the entry. The caller holds mu.
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

// calls returns the tool calls of the entry. Equal requests get equal ids. The
// ids of a
// conversation are different.
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

// show sends the reply to on in four pieces, as in a stream.
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
