// Package tooltest is the test suite for tools.
package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Run checks the contract of [tool.Tool]. A tool must have a description and a
// name that the endpoints of models accept. Its parameters must compile, and it
// must check its arguments. Results must have a JSON form, and a call must end
// with its context. A call with the arguments good must succeed. Run makes this
// call once. If good is nil, Run makes no such call.
func Run(t *testing.T, tl tool.Tool, good map[string]any) {
	t.Helper()
	tl, err := tl.Described(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := describe(t, tl)
	t.Run("good", func(t *testing.T) {
		if good == nil {
			t.Skip("no call is expected to succeed")
		}
		if err := s.Validate(nil, good); err != nil {
			t.Errorf("its own parameters refuse %v: %v", good, err)
		}
		if r := call(t, tl, good); r.Failed {
			t.Errorf("%v: %s", good, r.Text())
		}
	})
	t.Run("refused", func(t *testing.T) { refuse(t, tl, s, good) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, tl, good) })
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func describe(t *testing.T, tl tool.Tool) *schema.Schema {
	if !toolName.MatchString(tl.Name) {
		t.Errorf("endpoints refuse the name %q", tl.Name)
	}
	if strings.TrimSpace(tl.Description) == "" {
		t.Error("the description is empty")
	}
	params := tl.Params()
	if params["type"] != "object" {
		t.Errorf("parameters are an object, not %v", params["type"])
	}
	s, err := schema.Compile(params)
	if err != nil {
		t.Fatalf("parameters: %v", err)
	}
	return s
}

// refuse sends invalid arguments. If the schema rejects them, the call must
// fail. Otherwise the call must not panic.
func refuse(t *testing.T, tl tool.Tool, s *schema.Schema, good map[string]any) {
	hostile := []map[string]any{nil, {}, {"no_such_argument": 1}}
	if good != nil {
		extra := map[string]any{"no_such_argument": "x"}
		maps.Copy(extra, good)
		hostile = append(hostile, extra)
	}
	properties, _ := tl.Params()["properties"].(map[string]any)
	for name := range properties {
		for _, value := range []any{nil, 7, -1.5, true, []any{nil}, map[string]any{"a": []any{}}, "\x00", ""} {
			hostile = append(hostile, map[string]any{name: value})
		}
	}
	for _, arguments := range hostile {
		checked := arguments
		if checked == nil {
			checked = map[string]any{}
		}
		if s.Validate(nil, checked) == nil {
			continue // these arguments are valid
		}
		if r := call(t, tl, arguments); !r.Failed {
			t.Errorf("arguments %v break its parameters, and gave %s", arguments, r.Text())
		}
	}
}

func call(t *testing.T, tl tool.Tool, arguments map[string]any) tool.Result {
	t.Helper()
	r, err := tl.Run(t.Context(), tool.Call{Name: tl.Name, Arguments: arguments, Key: "run/path"})
	if err != nil {
		t.Fatalf("%v: the context is alive, and yet: %v", arguments, err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("%v: the result does not encode: %v", arguments, err)
	}
	if again, err := schema.Plain(r.Value); err != nil {
		t.Errorf("%v: the result %s is not plain: %v, %v", arguments, text, again, err)
	}
	return r
}

func cancelled(t *testing.T, tl tool.Tool, good map[string]any) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if r, err := tl.Run(ctx, tool.Call{Name: tl.Name, Arguments: good}); !errors.Is(err, cause) {
		t.Errorf("the context is over, and it gave %v, %v", r, err)
	}
}
