package exchanges

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// made makes a conversation from a seed, always the same.
func made(seed uint64) *Conversation {
	r := rand.New(rand.NewPCG(seed, 1))
	t := Begin(model.Message{Role: model.User, Content: "instructions " + strings.Repeat("word ", r.IntN(20))})
	for i := range 1 + r.IntN(12) {
		calls := make([]model.ToolCall, r.IntN(4))
		for c := range calls {
			calls[c] = model.ToolCall{ID: fmt.Sprintf("call-%d-%d", i, c), Name: "look", Arguments: strings.Repeat("x", r.IntN(40))}
		}
		t.Append(model.Message{Role: model.Assistant, Content: strings.Repeat("said ", r.IntN(30)), ToolCalls: calls})
		for _, c := range calls {
			t.Append(model.Message{Role: model.ToolReply, ToolCallID: c.ID, Content: strings.Repeat("result ", r.IntN(30))})
		}
		if len(calls) == 0 {
			t.Append(model.Message{Role: model.User, Content: fmt.Sprintf("and %d", i)})
			if r.IntN(3) == 0 {
				t.MarkRejected()
			}
		}
	}
	return t
}

// whole returns the reason why an endpoint would reject a conversation, or "".
func whole(list []model.Message) string {
	open := map[string]bool{}
	for i, m := range list {
		switch {
		case i == 0 && !strings.HasPrefix(m.Content, "instructions"):
			return "it does not begin with the instructions"
		case m.Role == model.ToolReply && !open[m.ToolCallID]:
			return "a result without its call: " + m.ToolCallID
		case m.Role != model.ToolReply && len(open) > 0:
			return fmt.Sprintf("calls without their results: %v", open)
		case i > 0 && m.Role == model.User && list[i-1].Role == model.User, i > 0 && m.Role == model.Assistant && list[i-1].Role == model.Assistant:
			return fmt.Sprintf("two messages of %s in a row", m.Role)
		}
		delete(open, m.ToolCallID)
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return "calls without their results at the end"
	}
	return ""
}

// permanent returns the texts of the exchanges that are never removed.
func permanent(t *Conversation) []string {
	var last, fed string
	for i, x := range t.list {
		text := fmt.Sprint(t.messages(i))
		if x.kind == answered || x.kind == rejected {
			last = text
		}
		if x.kind == rejected {
			fed = text
		}
	}
	list := []string{fmt.Sprint(t.messages(0)), last, fed, fmt.Sprint(t.messages(len(t.list) - 1))}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

func holds(tb *testing.T, what string, t *Conversation, must []string) {
	tb.Helper()
	if wrong := whole(t.Messages()); wrong != "" {
		tb.Errorf("%s: %s", what, wrong)
	}
	sum := 0
	var have []string
	for i := range t.list {
		have = append(have, fmt.Sprint(t.messages(i)))
	}
	for _, m := range t.Messages() {
		sum += weigh(m)
	}
	if sum != t.Weight() {
		tb.Errorf("%s: the messages weigh %d, and %d is said", what, sum, t.Weight())
	}
	for _, one := range must {
		if !slices.Contains(have, one) {
			tb.Errorf("%s: %q has left", what, one)
		}
	}
}

func TestLeave(t *testing.T) {
	for seed := range uint64(300) {
		before := made(seed)
		must, all := permanent(before), before.Messages()
		fewest := -1
		for room := before.Weight() + 10; room > 0; room -= 37 {
			talk, again := made(seed), made(seed)
			left := talk.DropOldest(room)
			what := fmt.Sprintf("seed %d, room %d", seed, room)
			holds(t, what, talk, must)
			switch {
			case talk.Weight() > room && talk.Weight() != before.MinWeight():
				t.Errorf("%s: %d are left, and %d need not be", what, talk.Weight(), before.MinWeight())
			case left != len(all)-len(talk.Messages()):
				t.Errorf("%s: %d are said to have left", what, left)
			case fewest >= 0 && len(talk.Messages()) > fewest:
				t.Errorf("%s: more is kept where there is less room", what)
			case again.DropOldest(room) != left || !reflect.DeepEqual(again.Messages(), talk.Messages()):
				t.Errorf("%s: not the same again", what)
			case left == 0 && before.Weight() > room && before.MinWeight() < before.Weight():
				t.Errorf("%s: nothing has left", what)
			}
			fewest = len(talk.Messages())
			at := -1
			for _, m := range talk.Messages() { // in their order
				next := slices.IndexFunc(all[at+1:], func(one model.Message) bool { return reflect.DeepEqual(one, m) })
				if next < 0 {
					t.Fatalf("%s: %v is new, or out of its place", what, m)
				}
				at += 1 + next
			}
		}
	}
}

func TestSum(t *testing.T) {
	for seed := range uint64(300) {
		talk := made(seed)
		must, past, free := permanent(talk), talk.Removable(), talk.SummaryRoom(1000, "go on")
		left := talk.Summarize("summary", "go on")
		if left != len(past) {
			t.Errorf("seed %d: %d have left of %d", seed, left, len(past))
		}
		holds(t, fmt.Sprintf("seed %d", seed), talk, must)
		if used := 1000 - talk.Weight() + Weigh("summary"); used != free {
			t.Errorf("seed %d: %d are free, and %d were said to be", seed, used, free)
		}
		if m := talk.Messages(); m[1].Content != "summary" || m[2].Content != "go on" {
			t.Errorf("seed %d: %v", seed, m[:3])
		}
		talk.Append(model.Message{Role: model.Assistant, Content: "more"})
		talk.Append(model.Message{Role: model.User, Content: "still more"})
		if again := talk.Removable(); len(again) < 2 || again[0].Content != "summary" {
			t.Errorf("seed %d: the summary is not summed up: %v", seed, again)
		}
	}
}

// TestFirstFeedbackStays checks that the second attempt sees its feedback,
// however many tools it calls.
func TestFirstFeedbackStays(t *testing.T) {
	talk := Begin(model.Message{Role: model.User, Content: "instructions"})
	say := func(role model.Role, text string) { talk.Append(model.Message{Role: role, Content: text}) }
	say(model.Assistant, "old")
	say(model.User, "a turn")
	say(model.Assistant, "candidate")
	say(model.User, "feedback")
	talk.MarkRejected()
	say(model.Assistant, "turn text")
	say(model.User, "next turn")
	for i := range 5 {
		id := fmt.Sprint(i)
		talk.Append(model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: id}}})
		talk.Append(model.Message{Role: model.ToolReply, ToolCallID: id, Content: strings.Repeat("much ", 100)})
	}
	talk.DropOldest(1)
	var got []string
	for _, m := range talk.Messages() {
		got = append(got, strings.Fields(m.Content+m.ToolCallID+" ")...)
	}
	text := strings.Join(got, " ")
	if !strings.HasPrefix(text, "instructions candidate feedback turn text next turn much") || strings.Count(text, "much much") > 60 {
		t.Errorf("%s", text)
	}
}

func TestWeigh(t *testing.T) {
	for _, one := range []struct {
		text        string
		least, most int
	}{ // counts of o200k_base and cl100k_base, and a loose upper limit
		{"", 0, 0},
		{"The weight of a conversation is estimated on the safe side.", 12, 30},
		{"getUserNameByID(ctx, 12345)", 9, 25},
		{`{"valid": true, "reason": "ok"}`, 10, 25},
		{"3.14159265358979", 7, 16},
		{"会話の重さは見積もりであり", 9, 30},
		{"Вес разговора оценивается с запасом", 9, 40},
		{"😀🎉🦉", 5, 12},
		{"aGVsbG8gd29ybGQgYWdhaW4gYW5kIGFnYWlu", 16, 40},
		{"\xff\xfe", 2, 8},
	} {
		if n := Weigh(one.text); n < one.least || n > one.most {
			t.Errorf("%q weighs %d, want %d to %d", one.text, n, one.least, one.most)
		}
	}
	if a, b := Weigh(strings.Repeat("owl ", 1000)), Weigh("owl "); a < 900*b {
		t.Errorf("a thousand words weigh %d, one %d", a, b)
	}
}

func TestAround(t *testing.T) {
	tool := model.Tool{Name: "look", Description: "Looks.", Parameters: map[string]any{"type": "object"}}
	if one, two := Overhead([]model.Tool{tool}, nil), Overhead([]model.Tool{tool, tool}, []byte(`{"type": "object"}`)); one < 16 || two <= 2*one {
		t.Errorf("%d, %d", one, two)
	}
}

func BenchmarkWeigh(b *testing.B) {
	text := strings.Repeat("The weight of a conversation is estimated on the safe side. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Weigh(text)
	}
}

// KeepLast keeps the opening and the last rejected exchange, and counts the
// unchanged messages.
func TestKeepLast(t *testing.T) {
	for seed := range uint64(300) {
		talk := made(seed)
		before := talk.Messages()
		refusals, opening := 0, talk.messages(0)[0].Content
		for _, x := range talk.list[:len(talk.list)-1] {
			if x.kind == rejected {
				refusals++
			}
		}
		if talk.list[len(talk.list)-1].kind != rejected {
			continue
		}
		same := talk.KeepLast()
		left := talk.Messages()
		switch {
		case whole(left) != "" || left[0].Content != opening:
			t.Errorf("seed %d: %s %v", seed, whole(left), left)
		case refusals == 0 && len(left) != len(before), same != 1 && len(left) != len(before):
			t.Errorf("seed %d: %d messages of %d, %d are the same", seed, len(left), len(before), same)
		}
		last := 0
		for i, x := range talk.list {
			if x.kind == rejected {
				last++
			}
			if i > 0 && !strings.Contains(fmt.Sprint(before[len(before)-len(left)+1:]), fmt.Sprint(talk.messages(i)[0])) {
				t.Errorf("seed %d: exchange %d is not of the last attempt", seed, i)
			}
		}
		if last != 1 {
			t.Errorf("seed %d: %d refused attempts are left", seed, last)
		}
	}
}
