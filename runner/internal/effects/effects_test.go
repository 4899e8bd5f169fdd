package effects

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// counted counts calls of Put.
type counted struct {
	Texts
	bytes, puts, gets int
}

func (c *counted) Get(digest string) ([]byte, error) {
	c.gets++
	return c.Texts.Get(digest)
}

func (c *counted) Put(text []byte) (string, error) {
	c.bytes, c.puts = c.bytes+len(text), c.puts+1
	return c.Texts.Put(text)
}

func folder(t testing.TB) *Folder {
	t.Helper()
	f, err := NewFolder(filepath.Join(t.TempDir(), "texts"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A conversation of 150 turns of 4 KB is stored once, not 75 times, and each
// request can be restored.
func TestConversationsTravelByReference(t *testing.T) {
	texts := &counted{Texts: folder(t)}
	thread := model.NewThread(model.Message{Role: model.User, Content: "begin"})
	sent := 0
	var talks model.Conversations
	check := func(th *model.Thread) {
		t.Helper()
		req := model.Request{Model: "m", Messages: th.Messages(), Thread: th}
		raw, err := Encode(Effect{At: "a", Run: "r", Request: &req}, texts)
		if err != nil {
			t.Fatal(err)
		}
		sent += len(raw)
		var read Effect
		if err := Decode(raw, texts, &read); err != nil {
			t.Fatal(err)
		}
		if err := read.Follow(texts, &talks); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read.Request.Messages, req.Messages) {
			t.Fatalf("%d messages are read as %d", len(req.Messages), len(read.Request.Messages))
		}
		if len(req.Messages) == 0 || req.Thread == nil {
			t.Fatal("the request itself was changed")
		}
	}
	for turn := range 150 {
		thread.Append(model.Message{Role: model.Assistant, Content: fmt.Sprint(turn, strings.Repeat("x", 4<<10))}, model.Message{Role: model.User, Content: "on"})
		check(thread)
	}
	if texts.bytes > 800<<10 || sent > 60<<10 {
		t.Errorf("%d bytes were put and %d sent", texts.bytes, sent)
	}
	puts := texts.puts
	check(thread)
	if texts.puts != puts {
		t.Errorf("what was said already was put %d times", texts.puts-puts)
	}
	fork := model.NewThread(thread.Messages()...)
	fork.Append(model.Message{Role: model.User, Content: "left"})
	thread.Append(model.Message{Role: model.User, Content: "right"})
	check(fork)
	check(thread)
	check(fork)
	talks = model.Conversations{} // of another worker
	check(thread)
	if texts.gets > 150+500 {
		t.Errorf("%d texts were read", texts.gets)
	}
	alone := model.Request{Messages: []model.Message{{Role: model.User, Content: "a judge"}}}
	raw, err := Encode(Effect{Request: &alone}, texts)
	var read Effect
	if err == nil {
		err = Decode(raw, texts, &read)
	}
	if err == nil {
		err = read.Follow(texts, &talks)
	}
	if err != nil || !reflect.DeepEqual(read.Request.Messages, alone.Messages) {
		t.Errorf("without a thread: %+v: %v", read.Request, err)
	}
}

// Any effect can be restored, also one that contains an object like a
// reference.
func TestEffectsReadBack(t *testing.T) {
	texts := folder(t)
	long := strings.Repeat("long \u2028 \"text\" ", 500)
	for _, args := range []map[string]any{
		{}, {"a": long, "b": []any{long, 1, 2.5, nil, true}},
		{"fill": long, "a": map[string]any{textMember: "0123"}},
		{"fill": long, "a": map[string]any{plainMember: map[string]any{textMember: long}}},
		{"fill": long, "a": map[string]any{textMember: long, "b": 1}},
		{textMember: long}, {plainMember: long}, {plainMember: map[string]any{plainMember: []any{long}}},
	} {
		e := Effect{At: "a", Run: "r", Job: &engine.Job{Call: tool.Call{Name: "t", Arguments: args}}}
		raw, err := Encode(e, texts)
		if err != nil {
			t.Fatal(err)
		}
		var read Effect
		if err := Decode(raw, texts, &read); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !reflect.DeepEqual(read.Job.Call.Arguments, args) {
			t.Errorf("%.200v\nreads as\n%.200v", args, read.Job.Call.Arguments)
		}
	}
	huge := strings.Repeat("0123456789", 5<<20)
	raw, err := Encode(Effect{Validation: &engine.Validation{Subject: validators.Subject{Content: huge}}}, texts)
	if err != nil || len(raw) > 1<<10 {
		t.Errorf("50 MB are sent as %d bytes: %v", len(raw), err)
	}
}

// An invalid digest names no file. A damaged or incomplete text is an error.
func TestFolderGivesWhatWasPut(t *testing.T) {
	f := folder(t)
	digest, err := f.Put([]byte("a text"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := f.Get(digest); err != nil || !bytes.Equal(text, []byte("a text")) {
		t.Errorf("got %q: %v", text, err)
	}
	for _, bad := range []string{"", "..", "/etc/passwd", strings.Repeat("../", 21) + "a", strings.Repeat("0", 64)} {
		if text, err := f.Get(bad); err == nil {
			t.Errorf("%q gives %q", bad, text)
		}
	}
	if err := os.WriteFile(f.name(digest), []byte("a tex"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := f.Get(digest); err == nil {
		t.Errorf("what is cut reads as %q", text)
	}
	if again, err := f.Put([]byte("a text")); err != nil || again != digest {
		t.Fatal(err)
	}
	if text, err := f.Get(digest); err != nil || string(text) != "a text" {
		t.Errorf("put again: %q: %v", text, err)
	}
}
