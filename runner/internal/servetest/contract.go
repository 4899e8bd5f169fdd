package servetest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
)

// A Contract is the OpenAPI document of the API, as a server returns it.
type Contract struct {
	once    sync.Once
	doc     map[string]any
	schemas sync.Map
}

// theContract is read once, because all servers return the same document.
var theContract Contract

// Contract returns the document. It is read once for all worlds.
func (w *World) Contract() *Contract {
	w.Helper()
	theContract.once.Do(func() {
		if err := yaml.Unmarshal([]byte(w.Send("GET", "/v1/openapi.yaml", nil).Text), &theContract.doc); err != nil {
			w.Fatal(err)
		}
	})
	return &theContract
}

// operation returns the part of the document about a request.
func (c *Contract) operation(method, path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	for pattern, item := range c.doc["paths"].(map[string]any) {
		if matches(pattern, path) {
			op, _ := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
			return op
		}
	}
	return nil
}

func matches(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s string) bool {
		i := slices.Index(a, s)
		return s != b[i] && !strings.HasPrefix(s, "{")
	})
}

// hold compares an answer with the document.
func (c *Contract) hold(t testing.TB, method, path string, r Reply) {
	t.Helper()
	op := c.operation(method, path)
	if op == nil {
		if r.StatusCode != 404 && r.StatusCode != 405 {
			t.Errorf("%s %s: the document has no such operation", method, path)
		}
		op = map[string]any{"responses": map[string]any{"default": map[string]any{"$ref": "#/components/responses/Problem"}}}
	}
	responses := op["responses"].(map[string]any)
	response, ok := responses[fmt.Sprint(r.StatusCode)].(map[string]any)
	if !ok {
		if response, ok = responses["default"].(map[string]any); !ok || r.StatusCode < 400 {
			t.Errorf("%s %s: the document has no answer %d", method, path, r.StatusCode)
			return
		}
	}
	if ref, ok := response["$ref"].(string); ok {
		response = c.doc["components"].(map[string]any)["responses"].(map[string]any)[filepath.Base(ref)].(map[string]any)
	}
	content, _ := response["content"].(map[string]any)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	media, ok := content[kind].(map[string]any)
	if !ok {
		if len(content) > 0 || r.Text != "" {
			t.Errorf("%s %s: the document has no %q for %d", method, path, kind, r.StatusCode)
		}
		return
	}
	for _, text := range bodies(kind, r.Text) {
		c.Check(t, media["schema"], text, method+" "+path)
	}
}

// bodies returns the JSON documents of an answer.
func bodies(kind, text string) []string {
	switch kind {
	case "application/json", "application/problem+json":
		return []string{text}
	case "application/x-ndjson":
		return slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" })
	}
	return nil
}

// Check compares a text with a schema of the document.
func (c *Contract) Check(t testing.TB, shape any, text, what string) {
	t.Helper()
	key, _ := json.Marshal(shape)
	compiled, ok := c.schemas.Load(string(key))
	if !ok {
		s, err := schema.Compile(map[string]any{"allOf": []any{shape}, "components": c.doc["components"]})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		compiled, _ = c.schemas.LoadOrStore(string(key), s)
	}
	value, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v in %s", what, err, text)
	}
	if err := compiled.(*schema.Schema).Validate(nil, value); err != nil {
		t.Errorf("%s: %v\nin %.500s", what, err, text)
	}
}
