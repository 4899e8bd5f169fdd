package model_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// Successive messages of the user are sent as one. Later requests begin with
// the same bytes, and earlier results do not change.
func TestWireJoinsUserMessages(t *testing.T) {
	user := func(text string) model.Message { return model.Message{Role: model.User, Content: text} }
	thread := model.NewThread(model.Message{Role: model.System, Content: "s"}, user("a \"document\""), user("another"), user("write"))
	wire := func(n int) string {
		t.Helper()
		text, err := model.Request{Messages: thread.Messages()[:n], Thread: thread}.Wire(model.Provider{})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const opening = `{"role":"system","content":"s"},{"role":"user","content":"a \"document\"\n\nanother\n\nwrite"}`
	if got := wire(4); got != opening {
		t.Errorf("got  %s\nwant %s", got, opening)
	}
	if got, want := wire(2), `{"role":"system","content":"s"},{"role":"user","content":"a \"document\""}`; got != want {
		t.Errorf("a part: got %s", got)
	}
	first, _ := model.Request{Messages: thread.Messages(), Thread: thread}.Wire(model.Provider{})
	thread.Append(user("more"))
	if got, want := wire(5), opening[:len(opening)-2]+`\n\nmore"}`; got != want || string(first) != opening {
		t.Errorf("got  %s\nwant %s\nand before %s", got, want, first)
	}
	thread.Append(model.Message{Role: model.Assistant, Content: "b"}, user("again"))
	if got, want := wire(7), opening[:len(opening)-2]+`\n\nmore"},{"role":"assistant","content":"b"},{"role":"user","content":"again"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A conversation that was restored from references has the ends of its cached
// beginnings.
func TestReferencesHaveCacheEnds(t *testing.T) {
	store := map[string][]byte{}
	put := func(text []byte) (string, error) {
		digest := fmt.Sprint(len(store))
		store[digest] = slices.Clone(text)
		return digest, nil
	}
	get := func(digest string) ([]byte, error) { return store[digest], nil }
	read := func(text []byte, into any) error { return json.Unmarshal(text, into) }
	sent := []model.Message{{Role: model.System, Content: "s", CacheEnd: true}, {Role: model.User, Content: "d"}, {Role: model.User, Content: "i", CacheEnd: true}}
	r, err := model.Request{Messages: sent}.Refer(put)
	if err != nil {
		t.Fatal(err)
	}
	var talks model.Conversations
	if err := talks.Follow(&r, get, read); err != nil {
		t.Fatal(err)
	}
	for i, m := range r.Messages {
		if m.CacheEnd != sent[i].CacheEnd {
			t.Errorf("message %d ends a cached beginning: %v", i, m.CacheEnd)
		}
	}
	store["odd"] = []byte(`{"said": [{"role": "user", "content": "x"}], "ends": [1]}`)
	odd := model.Request{Conversation: "odd"}
	if err := talks.Follow(&odd, get, read); err == nil {
		t.Error("an end of a message that there is not is taken")
	}
}
