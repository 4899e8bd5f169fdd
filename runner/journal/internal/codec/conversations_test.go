package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
)

// Parameters are part of a request's print. A request without parameters keeps
// its old print.
func TestParamsAreRecognised(t *testing.T) {
	c := NewConversations(nil)
	warm, cold := 0.7, 0.0
	prints := map[string]string{}
	for _, p := range []*model.Params{
		nil, {}, {Temperature: &warm}, {Temperature: &cold}, {TopP: &warm}, {MaxOutputTokens: 1}, {Effort: "low"}, {Seed: new(int64)}, {Stop: []string{"a", "b"}}, {Stop: []string{"ab"}},
		{NoFormat: true}, {Extra: `{"a":1}`}, {Extra: `{"a":2}`},
	} {
		req := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Go."}}, Params: p}
		d, err := c.DigestRequest(&req)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(p)
		if other, again := prints[string(d.Fingerprint)]; again {
			t.Errorf("%s is recognised as %s", raw, other)
		}
		prints[string(d.Fingerprint)] = string(raw)
		if p == nil && fmt.Sprintf("%x", d.Fingerprint) != plainPrint {
			t.Errorf("a request without parameters is recognised by %x", d.Fingerprint)
		}
	}
}

// plainPrint is the print of this request in the oldest journals, whose runs
// must stay resumable.
const plainPrint = "4ff2f249c722167bbce231e0816a6607379baf01"

// The event of a request has its parameters.
func TestParamsAreKept(t *testing.T) {
	seed, warm := int64(7), 0.2
	want := &model.Params{Temperature: &warm, Seed: &seed, MaxOutputTokens: 800, Stop: []string{"END"}, Extra: `{"service_tier":"flex"}`}
	raw, err := json.Marshal(Request{Model: "m", Params: want})
	if err != nil {
		t.Fatal(err)
	}
	var a Request
	if err := schema.Unmarshal(raw, &a); err != nil || !reflect.DeepEqual(a.Params, want) {
		t.Errorf("kept %s", raw)
	}
}

// A request of a remembered thread is digested from its new messages on, and has the same
// fingerprint as a request without a thread.
func TestThreadIsRemembered(t *testing.T) {
	c, thread := NewConversations(nil), model.NewThread()
	for n := range 3 {
		thread.Append(model.Message{Role: model.User, Content: fmt.Sprint(n)})
		req := model.Request{Model: "m", Messages: thread.Messages(), Thread: thread}
		d, err := c.DigestRequest(&req)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := c.DigestRequest(&model.Request{Model: "m", Messages: thread.Messages()})
		if err != nil || len(d.messages) != 1 || len(whole.messages) != n+1 || !reflect.DeepEqual(d.Fingerprint, whole.Fingerprint) {
			t.Errorf("request %d: %d messages are digested again, %v", n, len(d.messages), err)
		}
		c.Remember(&req, &d)
	}
}

// A row may repeat messages of its conversation, which are not new.
func TestNewsOfARow(t *testing.T) {
	words := []model.Message{{Content: "a"}, {Content: "b"}, {Content: "c"}}
	for before, want := range map[int]int{0: 3, 1: 3, 2: 2, 4: 0} {
		got, err := (&Request{BaseCount: 1, Before: before, Messages: words}).News()
		if err != nil || !reflect.DeepEqual(got, words[3-want:]) {
			t.Errorf("before %d: %v, %v", before, got, err)
		}
	}
	if _, err := (&Request{BaseCount: 1, Before: 5, Messages: words}).News(); err == nil {
		t.Error("more messages are known than there are")
	}
}
