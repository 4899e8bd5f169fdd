package schedule

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// TestReadInOneWayOnly checks that every gate that reads a schedule rejects ambiguous JSON.
func TestReadInOneWayOnly(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := week(54)
	itemOf(w, 3)["note"] = map[string]any{"deep": []any{"HERE"}}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	with := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not there", old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	verdict := func(name string, s validators.Subject) validators.Verdict {
		v, err := validators.NewSet(Validators(h.Options)...).Find(name)
		if err != nil {
			t.Fatal(err)
		}
		check, err := v.Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		texts, err := check(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return texts
	}
	cut := good[:len(good)/2]
	for _, fine := range []string{good, "```json\n" + good + "\n```", "for {x} of {\"y\" …}: " + good + " {z}", "{" + good, good + "\nDone [1](a).",
		"<think>" + cut + "</think>" + good, `{"was": {"a": 1}, …} ` + good, good + "\nThat is all {", `{"schedule": ` + good + `, "notes": "the week is"}`, "<think>" + good + "</think>" + good, with(`"HERE"`, "9007199254740992"), with(`"price":18`, `"price":18.0`), with(`"price":18`, `"price":1.8e1`)} {
		if v := verdict(varietyGate, validators.Subject{Content: fine}); !v.Valid {
			t.Errorf("%.60s: %s", fine, v.Reason)
		}
	}
	for name, content := range map[string]string{
		"a price twice":             with(`"price":18`, `"price":9999,"price":18`),
		"spelled with an escape":    with(`"price":18`, `"pr\u0069ce":9999,"price":18`),
		"items twice":               `{"items":[],` + good[1:],
		"deep within a field":       with(`"HERE"`, `{"a":1,"\u0061":2}`),
		"2^53 + 1":                  with(`"HERE"`, "9007199254740993"),
		"2^53 + 1 with a point":     with(`"HERE"`, "9007199254740993.0"),
		"−2^53 − 1":                 with(`"HERE"`, "-9007199254740993"),
		"as a caption":              with(`"caption_id":4`, `"caption_id":9007199254740993`),
		"as a price":                with(`"price":18`, `"price":9007199254740993`),
		"no float":                  with(`"HERE"`, "1e400"),
		"half a pair":               with(`"HERE"`, `"\ud800"`),
		"another schedule behind":   good + "\n" + with(`"price":18`, `"price":9999`),
		"another object":            `of {"each": "items"} ` + good,
		"within a list":             "[1, " + good + "\nDone.",
		"cut off":                   cut,
		"cut off by a bracket":      good[:len(good)-1] + "\n",
		"cut off in a fence":        "```json\n" + cut + "\n```\n",
		"beside it cut off":         `{"schedule": ` + good + `, "notes": "the week is`,
		"beside it cut, and closed": "```json\n{\"schedule\": " + good + ", \"notes\": \"the week is\n```\n",
		"beside it broken":          `{"schedule": ` + good + `, "notes": oops}`,
		"a list cut off":            "[" + good + ", ",
		"another cut off behind":    good + "\nRevised:\n```json\n" + `{"creator_id":"ada","items":[{"note":"so`,
		"in prose, twice":           "```json\n" + with(`"price":18`, `"price":9999,"price":18`) + "\n```",
	} {
		for _, gate := range []string{qualityGate, selectionGate, varietyGate, anomalyGate, certificateGate} {
			if v := verdict(gate, validators.Subject{Content: content}); v.Valid {
				t.Errorf("%s: %s: %s", gate, name, v.Reason)
			}
			// The parsed output has lost the ambiguity, but the text still contains it.
			if v := verdict(gate, validators.Subject{Content: content, Output: w}); v.Valid && !strings.Contains(name, "behind") {
				t.Errorf("%s: %s beside its output: %s", gate, name, v.Reason)
			}
		}
	}
	for content, reason := range map[string]string{
		cut: "ends too early", good[:len(good)-1]: "ends too early", `{"schedule": ` + good + `, "notes": "the week is` + "\n": "invalid character",
		"```json\n" + cut + "\n```": "invalid character", `{"schedule": ` + good + `, "notes": oops}`: "invalid character",
	} {
		for _, gate := range []string{qualityGate, selectionGate, varietyGate, anomalyGate, certificateGate, criticGate} {
			if v := verdict(gate, validators.Subject{Content: content}); v.Valid || len(v.Issues) != 1 || v.Issues[0].Check != "INVALID_INPUT" || !strings.Contains(v.Reason, reason) {
				t.Errorf("%s: %.20q…%q: want that it is %s: %s", gate, content, content[len(content)-20:], reason, v.Reason)
			}
		}
	}
	for name, value := range map[string]any{"NaN": math.NaN(), "infinite": math.Inf(-1), "2^53 + 1": 1<<53 + 1, "2^53 as a float": float64(1 << 53), "written": json.Number("9007199254740993"), "no UTF-8": "\xff"} {
		for _, field := range []string{"note", "price", "caption_id", "days_since_last_use"} {
			w := week(54)
			itemOf(w, 3)[field] = value
			if v := h.verdict(varietyGate, w, nil); v.Valid || v.Issues[0].Check != "INVALID_INPUT" || v.Issues[0].Location != "items[3]" {
				t.Errorf("%s as %s: %s", name, field, v.Reason)
			}
		}
	}
	// A json.Number has its value in any spelling.
	saved := week(54)
	itemOf(saved, 3)["price"], itemOf(saved, 3)["caption_id"] = json.Number("18.00"), json.Number("4.0")
	plan := func(w map[string]any) string { return itemsHash(newReport(mustPolicy(t, "")).read(w, 0).items) }
	if plan(saved) != plan(week(54)) {
		t.Error("18.00 is not 18")
	}
	for _, review := range []string{`{"revenue_aggressiveness":99,"revenue_aggressiveness":1,"subscriber_health":90,"brand_consistency":90}`,
		`{"r\u0065venue_aggressiveness":99,"subscriber_health":90,"brand_consistency":90} {"revenue_aggressiveness":1,"subscriber_health":90,"brand_consistency":90}`,
		`{"revenue_aggressiveness":99,"subscriber_health":90,"brand_consistency":90} {"revenue_aggressiveness":1,"subscriber_health":90,"brand_consistency":90}`,
		`{"revenue_aggressiveness":1,"subscriber_health":90,"brand_consistency":90,"concerns":["one"`, `{"critic":{"revenue_aggressiveness":1,"subscriber_health":90,"brand_consistency":90},"concerns":["o`} {
		if v := verdict(criticGate, validators.Subject{Content: review}); v.Valid {
			t.Errorf("%s: %s", review, v.Reason)
		}
	}
}
