package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// called returns the event of a call in a conversation. Each letter is a message.
func called(path, conversation Path, letters string, before int) Event {
	req := &model.Request{Messages: []model.Message{}}
	for _, letter := range strings.Split(letters, "") {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Content: letter})
	}
	return Event{Kind: ModelCalled, Path: path, Conversation: conversation, Before: before, Request: req}
}

func contents(e Event) (text string) {
	for _, m := range e.Request.Messages {
		text += m.Content
	}
	return text
}

// read returns an event after a round trip through JSON.
func read(t *testing.T, e Event) (got Event, text string) {
	t.Helper()
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	return got, string(raw)
}

// TestCallWithNewMessages checks that a call contains only the new messages, and the number of
// the earlier ones.
func TestCallWithNewMessages(t *testing.T) {
	for _, c := range []struct {
		letters string
		before  int
		news    string
	}{
		{"abc", 0, "abc"}, {"abc", 1, "bc"}, {"abc", 3, ""},
		{"abc", 4, ""}, {"abc", -1, "abc"}, // invalid values
	} {
		e := called("p/model", "p", c.letters, c.before)
		got, text := read(t, e)
		if contents(got) != c.news || !strings.Contains(text, fmt.Sprintf(`"messages_before":%d`, c.before)) || contents(e) != c.letters {
			t.Errorf("%s with %d earlier messages: %s", c.letters, c.before, text)
		}
		if !strings.Contains(text, `"conversation":"p"`) || !strings.Contains(text, `"messages":[`) {
			t.Error(text)
		}
		if again, twice := read(t, got); twice != text || contents(again) != c.news {
			t.Errorf("%s, then %s", text, twice)
		}
	}
	if _, text := read(t, Event{Kind: ModelReplied, Before: 3}); strings.Contains(text, "messages_before") {
		t.Error(text)
	}
}

// TestRestoreConversations checks that interleaved conversations are restored. A
// conversation may go back, start again or arrive as a whole. Earlier results do not change.
func TestRestoreConversations(t *testing.T) {
	var restorer Conversations
	var handed []Event
	calls := []Event{
		called("a", "a", "ab", 0), called("b", "b", "x", 0), called("a1", "a", "abcd", 2), called("b1", "b", "xyz", 1),
		called("a1/fallback", "a", "abcd", 4), called("a2", "a", "abe", 2), called("a3", "a", "abefg", 3), called("a2", "a", "abh", 2),
	}
	other := called("a", "a", "q", 0)
	other.Run = "other"
	again := called("a4", "a", "abhij", 3)
	for _, e := range append(calls, other, again) {
		cut, _ := read(t, e)
		cut.Run = e.Run
		whole, err := restorer.Restore(cut)
		if err != nil || whole.Partial || contents(whole) != contents(e) {
			t.Fatalf("%s: got %q, %v", e.Path, contents(whole), err)
		}
		handed = append(handed, whole)
	}
	for i, e := range calls {
		if contents(handed[i]) != contents(e) {
			t.Errorf("%s is %q now", e.Path, contents(handed[i]))
		}
	}
	whole := called("a5", "a", "abhijkl", 5) // contains the whole conversation
	if got, err := restorer.Restore(whole); err != nil || contents(got) != "abhijkl" {
		t.Errorf("got %q, %v", contents(got), err)
	}
	middle, _ := read(t, called("c1", "c", "abc", 2))
	if _, err := restorer.Restore(middle); err == nil {
		t.Error("a conversation of which the beginning is not there is whole")
	}
	restorer.Forget("other")
	if middle.Run, middle.Conversation = "other", "a"; len(restorer.messages) != 2 {
		t.Errorf("it remembers %d conversations", len(restorer.messages))
	}
	if _, err := restorer.Restore(middle); err == nil {
		t.Error("what was forgotten is whole")
	}
	for _, e := range []Event{{Kind: RunFinished}, {Kind: ModelCalled}} {
		if _, err := restorer.Restore(e); err != nil {
			t.Error(err)
		}
	}
}
