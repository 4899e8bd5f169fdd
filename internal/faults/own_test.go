package faults_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/internal/faults"
)

// contents returns the texts of faults.
func contents(list []faults.Fault) (texts []string) {
	for _, f := range list {
		texts = append(texts, f.Text)
	}
	return texts
}

// TestOwnOperators checks the operators that gates build for themselves. Their faults are always bad.
func TestOwnOperators(t *testing.T) {
	dates := faults.Rewriting("swapped", "a date is in another order", `(\d{4})-(\d\d)`, "$2/$1")
	status := faults.Revaluing("closed", "a status is unknown", func(in, name string, v any) (any, bool) {
		return "lost", in == "ticket" && name == "status" && v != "lost"
	})
	without := faults.Revaluing("without", "a part is missing", func(in, name string, v any) (any, bool) {
		return faults.Removed, name == "id" || in == "tags" && v == "b"
	})
	for name, c := range map[string]struct {
		op   faults.Operator
		text string
		want []string
	}{
		"each match once":            {dates, "From 2024-05 to 2025-06.", []string{"From 05/2024 to 2025-06.", "From 2024-05 to 06/2025."}},
		"no match":                   {dates, "From May to June.", nil},
		"a field of one object":      {status, `{"status": "open", "ticket": {"status": "open"}}`, []string{"{\n  \"status\": \"open\",\n  \"ticket\": {\n    \"status\": \"lost\"\n  }\n}"}},
		"a field with the bad value": {status, `{"ticket": {"status": "lost"}}`, nil},
		"a field that is removed":    {without, `{"id": 1, "name": "x"}`, []string{"{\n  \"name\": \"x\"\n}"}},
		"an element that is removed": {without, `{"tags": ["a", "b"]}`, []string{"{\n  \"tags\": [\n    \"a\"\n  ]\n}"}},
		"no JSON":                    {without, "id: 1", nil},
		"a usual fault made sure":    {faults.Surely("own", faults.SentenceDropped), "The owl is here. The cat is there.", []string{"The cat is there."}},
	} {
		t.Run(name, func(t *testing.T) {
			found := planted(c.op, c.text, faults.Known{})
			if name == "a usual fault made sure" {
				found = found[:min(len(found), 1)]
			}
			if got := contents(found); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, f := range found {
				if f.Sure != faults.Always || f.Place == "" || f.Note == "" {
					t.Errorf("got %+v", f)
				}
			}
		})
	}
	if op := faults.Surely("own", faults.SentenceDropped); op.Name != "own" || faults.SentenceDropped.Name == "own" {
		t.Errorf("got %s and %s", op.Name, faults.SentenceDropped.Name)
	}
}

// TestRemade checks faults that change the whole JSON: each is another text, and the good value stays.
func TestRemade(t *testing.T) {
	text := faults.Read(`{"rows": [1, 2]}`, faults.Known{Most: 4})
	rng := rand.New(rand.NewPCG(1, 2))
	calls := 0
	found := text.Remade(rng, func(v any, _ *rand.Rand) (other any, place, note string) {
		rows := v.(map[string]any)["rows"].([]any)
		switch calls++; calls {
		case 1:
			return v, "rows", "nothing has changed"
		case 2:
			return nil, "", "" // no fault
		}
		rows[0] = "lost"
		return v, "rows", "a row is lost"
	})
	if want := []string{"{\n  \"rows\": [\n    \"lost\",\n    2\n  ]\n}"}; calls != 4 || !reflect.DeepEqual(contents(found), want) {
		t.Errorf("%d calls: got %+v, want %q", calls, found, want)
	}
	if again := text.Remade(rng, func(v any, _ *rand.Rand) (any, string, string) {
		v.(map[string]any)["more"] = true
		return v, "more", "a member is new"
	}); len(again) != 1 || again[0].Text != "{\n  \"more\": true,\n  \"rows\": [\n    1,\n    2\n  ]\n}" || again[0].Sure != faults.Always {
		t.Errorf("the good value has changed: %+v", again)
	}
	if found := faults.Read("no JSON", faults.Known{}).Remade(rng, nil); found != nil {
		t.Errorf("got %+v", found)
	}
}
