package schedule

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/seed61713e19/capstan/validators"
)

func TestWrongTypes(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		item := func(field string, value any) func(map[string]any) {
			return func(w map[string]any) { itemOf(w, 4)[field] = value }
		}
		top := func(field string, value any) func(map[string]any) {
			return func(w map[string]any) { w[field] = value }
		}
		for _, row := range []struct {
			change func(w map[string]any)
			at     string
		}{
			{item("send_type_key", 7), "items[4]"}, {item("send_type_key", nil), "items[4]"}, {item("send_type_key", ""), "items[4]"},
			{item("content_type", []any{}), "items[4]"}, {item("content_type", "\xff"), "items[4]"}, {item("price", "15"), "items[4]"}, {item("price", -1), "items[4]"},
			{item("caption_id", 1.5), "items[4]"}, {item("caption_id", true), "items[4]"}, {item("caption_id", ""), "items[4]"},
			{item("days_since_last_use", -1), "items[4]"}, {item("days_since_last_use", "never"), "items[4]"}, {item("performance_score", map[string]any{}), "items[4]"},
			{item("scheduled_date", "2026-02-30"), "items[4]"}, {item("scheduled_date", "05.01.2026"), "items[4]"}, {item("scheduled_date", nil), "items[4]"},
			{item("scheduled_time", "24:00"), "items[4]"}, {item("scheduled_time", "10:60"), "items[4]"}, {item("scheduled_time", "ten"), "items[4]"}, {item("scheduled_time", nil), "items[4]"},
			{item("scheduled_time", "8:47"), "items[4]"}, {item("scheduled_time", "8:47:00"), "items[4]"}, {item("scheduled_time", "8:47Z"), "items[4]"}, {item("scheduled_time", "10:00+24:30"), "items[4]"},
			{func(w map[string]any) { items(w)[4] = "an item" }, "items[4]"},
			{top("items", nil), "items"}, {func(w map[string]any) { w["schedule"], w["items"] = "{}", nil }, "schedule"}, {top("items", map[string]any{}), "items"}, {top("creator_id", nil), "creator_id"}, {top("creator_id", 1), "creator_id"},
			{top("week_start", "soon"), "week_start"}, {top("page_type", 1), "page_type"}, {top("strategy_metadata", "x"), "strategy_metadata"},
			{top("volume_config", 8), "volume_config"}, {top("volume_config", map[string]any{"weekly_distribution": 8}), "volume_config.weekly_distribution"},
			{top("volume_config", map[string]any{"weekly_distribution": map[string]any{"someday": 8}}), "volume_config.weekly_distribution"},
			{top("volume_config", map[string]any{"weekly_distribution": map[string]any{"monday": -8}}), "volume_config.weekly_distribution.monday"},
			{func(w map[string]any) {
				w["week_start"], w["strategy_metadata"], w["volume_config"] = nil, nil, map[string]any{"weekly_distribution": map[string]any{"": 8}}
			}, "volume_config.weekly_distribution"},
		} {
			w := h.certified(week(54))
			row.change(w)
			v, err := h.judge(qualityGate, w, nil)
			if err != nil {
				t.Errorf("%s: %v", row.at, err)
				continue
			}
			i := slices.IndexFunc(v.Issues, func(i validators.Issue) bool { return i.Check == "INVALID_INPUT" && i.Location == row.at })
			if v.Valid || v.Status != statusRejected || i < 0 {
				t.Errorf("%s: %+v", row.at, v.Issues)
			}
		}
	})
}

// TestFindingsAreOneLine checks that field names of a schedule cannot change the form
// of a report.
func TestFindingsAreOneLine(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	const name = "x\x1b[31m\ny\u202ez"
	for gate, w := range map[string]map[string]any{
		anomalyGate:   {"creator_id": name, "items": []any{map[string]any{"send_type_key": name, "content_type": name, name: 1 << 60}}, "page_type": name, "volume_config": map[string]any{"weekly_distribution": map[string]any{name: -1, name + name: 1}}},
		qualityGate:   {"creator_id": "ada", "page_type": name, "items": []any{}, "validation_proof": map[string]any{"vault_types_fetched": []any{name}}},
		preflightGate: {"creator_id": name},
		criticGate:    {"review": name, "items": []any{}, "revenue_aggressiveness": name},
	} {
		v := h.verdict(gate, w, nil)
		if strings.ContainsFunc(v.Reason, func(r rune) bool { return !unicode.IsPrint(r) }) || len(v.Issues) == 0 {
			t.Errorf("%s: %q", gate, v.Reason)
		}
	}
	_, err := object(validators.Subject{Content: `{"items": [], "x\u001b[31m\ny\u202ez": 1e999}`})
	v := mustPolicy(t, "").unreadable(err)
	if !strings.Contains(v.Reason, "1e999") || strings.ContainsFunc(v.Reason, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q", v.Reason)
	}
}

func TestUnknownSendType(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	for _, key := range []string{"ppv", "PPV_UNLOCK", "ppv_unlock ", "'; DROP TABLE send_types; --", strings.Repeat("x", 100000)} {
		w := h.certified(week(54))
		itemOf(w, 8)["send_type_key"] = key
		for _, gate := range []string{qualityGate, varietyGate, selectionGate, anomalyGate} {
			v := h.verdict(gate, w, nil)
			i := slices.IndexFunc(v.Issues, func(i validators.Issue) bool {
				return i.Check == "UNKNOWN_SEND_TYPE" && i.Location == "items[8]" && i.Severity == "CRITICAL" && len(i.Message) < 200
			})
			if v.Valid || i < 0 || details(v)["returns"].(map[string]any)["UNKNOWN_SEND_TYPE"] != "send-type-allocator" {
				t.Errorf("%s: %+v", gate, v.Issues)
			}
		}
	}
}

// TestItemsKeepTheirIndex checks that an item of another type does not shift the index
// of later findings.
func TestItemsKeepTheirIndex(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(week(54))
	items(w)[2], items(w)[5] = "no item", nil
	itemOf(w, 8)["content_type"], itemOf(w, 9)["scheduled_date"], itemOf(w, 10)["days_since_last_use"] = "pottery", "2026-02-02", 1
	itemOf(w, 18)["send_type_key"], itemOf(w, 18)["price"] = "ppv_wall", 999
	itemOf(w, 20)["content_type"] = "knitting"
	for _, row := range []struct{ gate, code, at string }{
		{qualityGate, "INVALID_INPUT", "items[2]"}, {qualityGate, "INVALID_INPUT", "items[5]"}, {qualityGate, "VAULT_VIOLATION", "items[8]"},
		{qualityGate, "AVOID_TIER_VIOLATION", "items[8]"}, {qualityGate, "OUTSIDE_WEEK", "items[9]"}, {qualityGate, "LOW_FRESHNESS", "items[10]"},
		{qualityGate, "PAGE_TYPE_VIOLATION", "items[18]"}, {anomalyGate, "PRICE_OUTLIER", "items[18]"}, {anomalyGate, "UNKNOWN_CONTENT_TYPE", "items[20]"},
		{selectionGate, "VAULT_VIOLATION", "items[8]"},
	} {
		v := h.verdict(row.gate, w, nil)
		if !slices.ContainsFunc(slices.Concat(v.Issues, v.Warnings), func(i validators.Issue) bool { return i.Check == row.code && i.Location == row.at }) {
			t.Errorf("%s: no %s at %s: %s", row.gate, row.code, row.at, v.Reason)
		}
	}
	better := details(h.verdict(selectionGate, w, nil))["alternatives"].([]any)[0].(map[string]any)
	if better["item"] != 8 {
		t.Errorf("%v", better)
	}
	// A value of the wrong type counts as missing.
	itemOf(w, 8)["content_type"] = 7
	v := h.verdict(qualityGate, w, nil)
	if i := slices.IndexFunc(v.Issues, func(i validators.Issue) bool { return i.Check == "VAULT_VIOLATION" }); v.Issues[i].Message != "the item has no content type" {
		t.Errorf("%+v", v.Issues[i])
	}
}

// TestFindingsComeInOrder checks that findings are in order for any number of goroutines.
func TestFindingsComeInOrder(t *testing.T) {
	h := newHouse(t, "")
	const n = 5 * portion
	w := map[string]any{"creator_id": "ada", "items": make([]any, n)}
	for i := range n {
		items(w)[i] = map[string]any{"send_type_key": "bundle", "price": -1}
		if i%100 == 7 {
			items(w)[i] = i
		}
		if i == n-1 {
			itemOf(w, i)["send_type_key"] = "none"
		}
	}
	v := h.verdict(varietyGate, w, nil)
	for i := range n {
		if v.Issues[i].Location != itemAt(i) && i < n-1 {
			t.Fatalf("finding %d is at %s", i, v.Issues[i].Location)
		}
	}
	returns := details(v)["returns"].(map[string]any)
	if len(v.Issues) < n+1 || returns["INVALID_INPUT"] != "schedule-assembler" || returns["UNKNOWN_SEND_TYPE"] != "send-type-allocator" || details(v)["return_to"] != "schedule-assembler" {
		t.Errorf("%d issues, %v", len(v.Issues), returns)
	}
	many := h.verdict(varietyGate, map[string]any{"creator_id": "ada", "items": items(week(n))}, nil)
	if details(many)["unique_types"] != 18 {
		t.Errorf("%v", details(many))
	}
}

func TestUnknownCreator(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		w["creator_id"] = "nobody"
		for _, gate := range []string{qualityGate, selectionGate, anomalyGate, certificateGate} {
			v := h.verdict(gate, w, nil)
			if v.Valid || !slices.Contains(codes(v), "CREATOR_NOT_FOUND") {
				t.Errorf("%s: %s %v", gate, v.Status, codes(v))
			}
			if score := details(v)["quality_score"]; gate == qualityGate && score != 90 {
				t.Errorf("score %v: a critical finding costs 10", score)
			}
		}
	})
}

func TestSubjectForms(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	text, err := json.Marshal(week(54))
	if err != nil {
		t.Fatal(err)
	}
	check, err := Validators(h.Options)[4].Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{string(text), "Here it is:\n```json\n" + string(text) + "\n```\nDone.", `{"schedule": ` + string(text) + `}`, `{"schedule": {"schedule": ` + string(text) + `}}`} {
		if v, err := check(context.Background(), validators.Subject{Content: content}); err != nil || !v.Valid {
			t.Errorf("%.40s…: %v, %v", content, v.Reason, err)
		}
	}
	t.Run("hostile", func(t *testing.T) { noSubject(t, h) })
}

// noSubject checks that every gate rejects a text without a schedule.
func noSubject(t *testing.T, h *house) {
	for _, content := range []string{"", "no JSON", "[]", `"x"`, "null", `{"creator_id": "ada", "items": [`, "\xff\xfe", strings.Repeat("[", 1<<20), strings.Repeat(`{"items":`, 1<<18), strings.Repeat("x", maxContent+1)} {
		for _, v := range Validators(h.Options) {
			check, err := v.Bind(nil)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := check(context.Background(), validators.Subject{Content: content}); err != nil || text.Valid || len(text.Reason) > 1000 {
				t.Errorf("%s on %.20q: %v, %v", v.Name, content, text, err)
			}
		}
	}
}

// TestManyItems checks that a schedule of a million items is rejected before the items are
// parsed. The finding has the index of the first item above the maximum.
func TestManyItems(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	one := itemOf(week(1), 0)
	w := week(54)
	w["items"] = slices.Repeat([]any{one}, 1_000_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, gate := range []string{qualityGate, varietyGate, selectionGate, anomalyGate} {
		v := h.verdict(gate, w, nil)
		i := slices.IndexFunc(v.Issues, func(i validators.Issue) bool { return i.Check == "INVALID_INPUT" && i.Location == "items[200000]" })
		if v.Valid || i < 0 {
			t.Errorf("%s: %.300s", gate, v.Reason)
		}
	}
	r := h.call(saveTool, saving(w))
	if !r.Failed || !strings.Contains(r.Text(), "items[200000]") {
		t.Errorf("save: %.300s", r.Text())
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 200 {
		t.Errorf("the gates allocated %d MiB", used)
	}
}

// TestParameters checks that Bind reports wrong parameters.
func TestParameters(t *testing.T) {
	for _, with := range []map[string]any{{"policy": "v4"}, {"policy": "extends: v9"}, {"db": 7}, {"no_such": "x"}, {"policy": "limits: {min_types: many}"}} {
		for _, v := range Validators(Options{}) {
			if _, err := v.Bind(with); err == nil {
				t.Errorf("%s takes %v", v.Name, with)
			}
		}
	}
	certificate := Validators(Options{})[3]
	if _, err := certificate.Bind(map[string]any{"phase": 3}); err == nil {
		t.Error("there is no phase 3")
	}
}

// TestWrongFieldsWeigh checks that an item with a wrong field lowers the score and
// appears in the certificate, with the weight of the policy.
func TestWrongFieldsWeigh(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(week(54))
	itemOf(w, 4)["price"], itemOf(w, 40)["send_type_key"] = "15", "ppv"
	d := details(h.verdict(qualityGate, w, nil))
	if found := d["violations_found"].(map[string]any); d["quality_score"] != 80 || found["critical"] != 2 {
		t.Errorf("score %v, %v", d["quality_score"], found)
	}
	itemOf(w, 40)["send_type_key"] = "bundle"
	for gate, status := range map[string]string{qualityGate: statusNeedsReview, anomalyGate: statusWarning} {
		v := h.verdict(gate, w, map[string]any{"policy": "rules:\n  input: {code: INVALID_INPUT, severity: LOW, status: " + status + "}"})
		expect{code: "INVALID_INPUT", severity: "LOW", status: status, at: "items[4]"}.check(t, v)
	}
}
