package validators

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
)

func TestJSONSchemaIssues(t *testing.T) {
	s, err := schema.Compile(map[string]any{"properties": map[string]any{"n": map[string]any{"minimum": 3}}, "required": []any{"m"}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := JSONSchema(s)(t.Context(), Subject{Content: `So: {"n": 1}`})
	if err != nil || v.Valid || len(v.Issues) != 2 {
		t.Fatalf("got %+v, %v", v, err)
	}
	want := Issue{Check: "minimum", Severity: "error", Message: "must be at least 3, is 1", Location: "$.n", Expected: ">= 3", Got: "1"}
	if !slices.Contains(v.Issues, want) {
		t.Errorf("got %+v, want %+v", v.Issues, want)
	}
}

// Checks against a schema must end when their context does.
func TestJSONSchemaAsksItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := schema.Compile(map[string]any{"items": map[string]any{"type": "string"}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := JSONSchema(s)(ctx, Subject{Output: make([]any, 200_000)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", v, err)
	}
}
