package dispatch_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

type object = map[string]any

// ask returns a request with criteria of these ids.
func ask(ids ...string) object {
	var list []any
	for _, id := range ids {
		list = append(list, object{"id": id, "description": "it holds that " + id})
	}
	return object{"task_id": "task-1", "validation_type": "code", "acceptance_criteria": list}
}

// answer returns a response to the request of ask. The pairs are ids and statuses.
func answer(verdict string, pairs ...string) object {
	list := []any{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, object{"criterion_id": pairs[i], "status": pairs[i+1], "evidence": "seen " + pairs[i]})
	}
	return object{"task_id": "task-1", "verdict": verdict, "criteria_results": list, "timestamp": "2026-02-17T14:30:00Z"}
}

// with returns a copy of an object with additional fields. The value nil removes a field.
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
