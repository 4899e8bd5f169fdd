package request_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators/request"
)

type object = map[string]any

// ask is a request with criteria of these ids.
func ask(ids ...string) object {
	var list []any
	for _, id := range ids {
		list = append(list, object{"id": id, "description": "it holds that " + id})
	}
	return object{"task_id": "task-1", "validation_type": "code", "acceptance_criteria": list}
}

// answer is a response to it, with pairs of an id and a status.
func answer(verdict string, pairs ...string) object {
	list := []any{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, object{"criterion_id": pairs[i], "status": pairs[i+1], "evidence": "seen " + pairs[i]})
	}
	return object{"task_id": "task-1", "verdict": verdict, "criteria_results": list, "timestamp": "2026-02-17T14:30:00Z"}
}

// with is a copy of an object with more fields; nil takes one away.
func with(o object, more object) object {
	o = maps.Clone(o)
	for key, value := range more {
		if o[key] = value; value == nil {
			delete(o, key)
		}
	}
	return o
}

func text(t testing.TB, v any) []byte {
	t.Helper()
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asked(t testing.TB, v any) *request.Request {
	t.Helper()
	r, err := request.ParseRequest(text(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func answered(t testing.TB, v any) *request.Response {
	t.Helper()
	r, err := request.ParseResponse(text(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSchemasKeepTheRules compares the schemas with the published ones. There
// are three differences: prd_id may have a dot, a result may have
// evidence_refs, and timeout_seconds is at least 1.
func TestSchemasKeepTheRules(t *testing.T) {
	for file, own := range map[string]json.RawMessage{
		"validation-request.schema.json":  request.RequestSchema,
		"validation-response.schema.json": request.ResponseSchema,
	} {
		published, err := os.ReadFile("../../../shared/data/validation-request/" + file)
		if err != nil {
			t.Skip(err)
		}
		want, got := rules(t, published), rules(t, own)
		if timeout, ok := want["properties"].(object)["timeout_seconds"].(object); ok {
			timeout["minimum"] = 1
		}
		if prd, ok := want["properties"].(object)["prd_id"].(object); ok {
			prd["pattern"] = "^PRD-[A-Z0-9.-]+$"
		}
		if results, ok := want["properties"].(object)["criteria_results"].(object); ok {
			results["items"].(object)["properties"].(object)["evidence_refs"] = object{"type": "array", "items": object{"type": "string"}}
		}
		if w, g := string(text(t, want)), string(text(t, got)); w != g {
			t.Errorf("%s:\n%s\n%s", file, w, g)
		}
	}
}

// rules is a schema without its words.
func rules(t *testing.T, source []byte) object {
	t.Helper()
	v, err := schema.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	bareSchema(v)
	return v.(object)
}

func bareSchema(v any) {
	o, ok := v.(object)
	if !ok {
		return
	}
	for _, words := range []string{"title", "description", "$schema"} {
		if _, isText := o[words].(string); isText {
			delete(o, words)
		}
	}
	for _, number := range []string{"minimum", "maximum"} {
		if n, ok := schema.Whole(o[number]); ok {
			o[number] = n
		}
	}
	for _, sub := range o {
		bareSchema(sub)
	}
}
