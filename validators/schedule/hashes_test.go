package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
)

// TestHashesDoNotCollide checks that moving text to the next field or item changes the hash.
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

// TestHashOfSpellings checks that equal JSON values have the same hash. Different words
// have different hashes, even where the gates read them as the same time or type.
func TestHashOfSpellings(t *testing.T) {
	hash := func(text string) string {
		v, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return itemsHash(newReport(mustPolicy(t, "")).read(map[string]any{"items": []any{v}}, 0).items)
	}
	want := hash(`{"scheduled_time":"08:00","send_type_key":"ppv_unlock","price":15}`)
	for text, same := range map[string]bool{
		`{ "price": 15.0, "send_type_key":"ppv_unlock", "scheduled_time":"08\u003a00" }`: true, `{"scheduled_time":"08:00","send_type_key":"ppv_unlock","price":15,"note":null}`: true,
		`{"scheduled_time":"08:00Z","send_type_key":"ppv_unlock","price":15}`: false, `{"scheduled_time":"08:00:00","send_type_key":"ppv_unlock","price":15}`: false,
		`{"scheduled_time":"08:00","send_type_key":"ppv_video","price":15}`: false, `{"scheduled_time":"08:00","send_type_key":"ppv_unlock","price":15,"note":""}`: false,
	} {
		if (hash(text) == want) != same {
			t.Errorf("%s: want the same: %v", text, same)
		}
	}
}

// TestHashOfMany checks that the order of the items and the number of goroutines do not affect
// the hash. A changed field must change the hash.
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

func mustPolicy(t testing.TB, text string) *gatePolicy {
	t.Helper()
	p, err := loadPolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSimpleItems checks that the fast and the general canonical form of an item are
// equal.
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
