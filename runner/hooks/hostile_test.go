package hooks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hostile are payloads that no agent sends, made of one that an agent sends.
func hostile(t *testing.T, good []byte) map[string][]byte {
	t.Helper()
	list := map[string][]byte{"empty": nil, "no object": []byte("[]"), "two documents": append(slices.Clone(good), good...), "null": []byte("null")}
	for i := 1; i < len(good); i += max(1, len(good)/40) {
		list[fmt.Sprintf("the first %d bytes", i)] = good[:i]
	}
	var in object
	if err := json.Unmarshal(good, &in); err != nil {
		t.Fatal(err)
	}
	put := func(name string, at object, key string, value any) {
		old := at[key]
		at[key] = value
		if value == nil {
			delete(at, key)
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		list[name], at[key] = text, old
	}
	input, _ := in["tool_input"].(object)
	for _, value := range []any{nil, 1, true, []any{"x"}, object{"a": 1}} {
		for key := range in {
			if key == "session_id" || key == "hook_event_name" || key == "cwd" || key == "tool_input" {
				put(fmt.Sprintf("%s is %v", key, value), in, key, value)
			}
		}
		for key := range input {
			put(fmt.Sprintf("%s is %v", key, value), input, key, value)
		}
	}
	put("unknown event", in, "hook_event_name", "pretooluse")
	input["content"] = "owls" // a text that passes, beside one that a tool may use
	put("two texts", input, "file_text", "cats")
	put("a command beside the text", input, "command", "ls")
	put("two files", input, "path", "b.md")
	input["content"] = "cats"
	list["key twice"] = bytes.Replace(good, []byte(`"content"`), []byte(`"content":"owls","content"`), 1)
	list["session twice"] = bytes.Replace(good, []byte(`{`), []byte(`{"session_id":"other",`), 1)
	put("10 MB", input, "content", strings.Repeat("cats ", 2<<20))
	return list
}

// TestHostilePayloads checks that no payload that an agent does not send passes, and that
// none crashes. Every answer refuses in a form that an agent reads.
func TestHostilePayloads(t *testing.T) {
	dir, g := t.TempDir(), newGate(t, rules, "hold")
	good, err := json.Marshal(write(dir, "a.md", "cats"))
	if err != nil {
		t.Fatal(err)
	}
	list := hostile(t, good)
	if len(list) < 60 {
		t.Errorf("only %d payloads", len(list))
	}
	for name, payload := range list {
		for _, agent := range []string{"", "claude", "gemini"} {
			if agent != "" && len(payload) > 1<<20 {
				continue
			}
			d, a := decide(t, g, agent, "", payload)
			if !d.Refuse || a.Status == 0 && !bytes.Contains(a.Stdout, []byte("deny")) || a.Status != 0 && (a.Status != 2 || a.Stderr == "") {
				t.Errorf("%s, %q: %+v, %+v", name, agent, d, a)
			}
		}
	}
}
