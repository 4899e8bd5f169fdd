package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators/schema"
)

func canonical(t testing.TB, text string) string {
	t.Helper()
	v, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(appendCanonical(nil, v))
}

func TestCanonicalForm(t *testing.T) {
	for _, same := range [][]string{
		{"15", "15.0", "1.5e1", "150E-1"}, {"0", "-0", "0.0", "-0.0", "0e9"}, {"10000000000000000", "1e16", "10000000000000000.0"}, {"0.1", "1e-1", "0.10"},
		{`{"a":1,"b":[2,"x"]}`, ` { "b" : [ 2.0 , "\u0078" ] , "a" : 1 } `}, {`"é"`, `"\u00e9"`}, {`"/"`, `"\/"`}, {`"\n"`, `"\u000a"`},
	} {
		for _, text := range same {
			if got := canonical(t, text); got != canonical(t, same[0]) {
				t.Errorf("%s is %s", text, got)
			}
		}
	}
	different := []string{
		"15", "15.1", `"15"`, "true", `"true"`, "null", `"null"`, `""`, "[]", "{}", "[[]]", `[""]`, `["a","b"]`, `["a,b"]`, `["a\",\"b"]`, `{"a":"b"}`, `{"a":{"b":null}}`,
		"9007199254740993", "9007199254740992", "1e400", "1e-7", "1e300",
	}
	seen := map[string]string{}
	for _, text := range different {
		form := canonical(t, text)
		if other, ok := seen[form]; ok && text != "1e400" {
			t.Errorf("%s and %s are both %s", text, other, form)
		}
		seen[form] = text
	}
}

// TestHashesDoNotCollide by moving text from one field or item to the next.
func TestHashesDoNotCollide(t *testing.T) {
	hash := func(text string) string {
		v, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r := newReport(mustPolicy(t, ""))
		return itemsHash(r.read(map[string]any{"items": v}, 0).items)
	}
	seen := map[string]string{}
	for _, text := range []string{
		`[]`, `[{}]`, `[{},{}]`, `[{"a":"b"}]`, `[{"a":"b","c":"d"}]`, `[{"a":"b\",\"c\":\"d"}]`, `[{"a":"b"},{"c":"d"}]`, `[{"a":"b\n{}"}]`,
		`[{"send_type_key":"bundle","content_type":"x"}]`, `[{"send_type_key":"bundle"},{"content_type":"x"}]`,
	} {
		if other, ok := seen[hash(text)]; ok {
			t.Errorf("%s and %s have one hash", text, other)
		}
		seen[hash(text)] = text
	}
	if namesHash([]string{"a", "b"}) != namesHash([]string{"b", "a", "b"}) || namesHash([]string{"a\nb"}) == namesHash([]string{"a", "b"}) || namesHash(nil) == namesHash([]string{""}) {
		t.Error("names")
	}
}

// TestHashOfMany: order, and how many goroutines write, do not matter; one
// field does.
func TestHashOfMany(t *testing.T) {
	hash := func(w map[string]any) string {
		r := newReport(mustPolicy(t, ""))
		return itemsHash(r.read(w, 0).items)
	}
	for _, n := range []int{2, 513, 4*portion + 1} {
		w := week(n)
		for i := range n {
			switch i % 4 {
			case 0:
				itemOf(w, i)["caption_id"] = nil
			case 1:
				itemOf(w, i)["caption_id"] = float64(i % 9)
			case 2:
				itemOf(w, i)["caption_id"] = fmt.Sprint("text ", i%9)
			}
			if i%5 == 0 {
				itemOf(w, i)["scheduled_time"] = "10:00"
			}
			itemOf(w, i)["price"] = float64(i % 7)
		}
		want := hash(w)
		rand.New(rand.NewPCG(1, uint64(n))).Shuffle(n, func(i, j int) { items(w)[i], items(w)[j] = items(w)[j], items(w)[i] })
		if hash(w) != want {
			t.Errorf("%d items: another order has another hash", n)
		}
		itemOf(w, n/2)["price"] = 99
		if hash(w) == want {
			t.Errorf("%d items: another price has the same hash", n)
		}
	}
}

func mustPolicy(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := loadPolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func FuzzCanonical(f *testing.F) {
	for _, text := range []string{`{"b":[1.0,1e3,-0],"a":"\u0000\"\\"}`, `[[[]],{}]`, `[1e-7,1e21,0.1,"\b\t\f\u007f</é"]`, "{\"\ufb33\":3,\"\U0001F600\":2,\"\u20ac\":1}", `1e309`, `"\ud800"`, "123456789012345678901234567890"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := schema.Parse([]byte(text))
		if err != nil || strings.Count(text, "[") > 1000 || strings.Count(text, "{") > 1000 {
			return
		}
		once := appendCanonical(nil, v)
		if byLibrary, err := signatures.Canonical(v); err == nil && string(byLibrary) != string(once) {
			t.Fatalf("%s, by the library %s", once, byLibrary)
		}
		again, err := schema.Parse(once)
		if err != nil {
			t.Fatalf("%s is no JSON: %v", once, err)
		}
		if twice := appendCanonical(nil, again); string(twice) != string(once) {
			t.Fatalf("%s becomes %s", once, twice)
		}
	})
}

// TestSimpleItems: the short way to an item's canonical form gives what the
// long way does.
func TestSimpleItems(t *testing.T) {
	simple := 0
	for _, text := range []string{
		`{}`, `{"caption_id":1}`, `{"caption_id":1.0,"price":15.0}`, `{"caption_id":"a\"b"}`, `{"price":null,"content_type":null}`, `{"content_type":"x","price":0.1}`,
		`{"send_type_key":"bundle","scheduled_date":"2026-01-05","scheduled_time":"10:00","price":1e3,"performance_score":-0.0,"days_since_last_use":3,"caption_id":9007199254740993,"content_type":"é"}`,
		`{"price":9007199254740993}`, `{"price":1e300}`, `{"performance_score":12345678901234567890}`, `{"scheduled_time":"ten"}`, `{"content_type":""}`, `{"content_type":7}`,
		`{"other":[1.0,null]}`, `{"price":"15"}`, `{"send_type_key":"nothing"}`, `{"caption_id":[]}`,
	} {
		v, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		plan := newReport(mustPolicy(t, "")).read(map[string]any{"items": []any{v}}, 0)
		it := plan.items[0]
		got := string(it.appendCanonical(nil))
		if it.simple {
			simple++
		}
		it.simple = false
		if want := string(it.appendCanonical(nil)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if simple < 7 {
		t.Errorf("only %d went the short way", simple)
	}
}
