package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// noon is the time of the tests: on the day before the demo's week.
var noon = time.Date(2026, 1, 4, 12, 0, 0, 0, time.UTC)

func at(now time.Time) func() time.Time { return func() time.Time { return now } }

// goodTypes are the content types that may be scheduled for ada: in the vault, not AVOID.
var goodTypes = []string{"cooking", "travel", "fitness", "music", "painting", "photography", "reading", "cycling", "baking"}

// adaTypes are 18 send types for a paid page.
var adaTypes = []string{
	"ppv_unlock", "link_drop", "bump_normal", "bundle", "wall_link_drop", "bump_descriptive", "flash_bundle", "dm_farm", "renew_on_post",
	"game_post", "like_farm", "bump_text_only", "tip_goal", "bump_flyer", "expired_winback", "vip_program", "live_promo", "first_to_tip",
}

// week returns a schedule of n items for ada that passes every gate. The items are spread over
// the days, eight a day for 54 items, and have 18 send types. Few of them are PPV slots, so the
// shares remain small.
func week(n int) map[string]any {
	start, _ := time.Parse(time.DateOnly, demoWeek)
	items := make([]any, n)
	perDay := (n + 6) / 7
	for i := range n {
		day := start.AddDate(0, 0, i/perDay)
		minute := 8*60 + (i%perDay)*(13*60/perDay)
		if perDay > 13*60 {
			minute = 8*60 + (i%perDay)*13*60/perDay
		}
		items[i] = map[string]any{
			"scheduled_date": day.Format(time.DateOnly), "scheduled_time": fmt.Sprintf("%02d:%02d", minute/60, minute%60),
			"send_type_key": adaTypes[i%len(adaTypes)], "content_type": goodTypes[(i/len(adaTypes)+i)%len(goodTypes)],
			"price": 18.0, "caption_id": i + 1, "days_since_last_use": 45, "performance_score": 71.5,
		}
	}
	return map[string]any{
		"creator_id": "ada", "page_type": "paid", "week_start": demoWeek, "items": items,
		"strategy_metadata": map[string]any{
			"2026-01-05": map[string]any{"strategy_used": "balanced"}, "2026-01-06": map[string]any{"strategy_used": "story"},
			"2026-01-07": map[string]any{"strategy_used": "community"},
		},
		"volume_config":    map[string]any{"weekly_distribution": map[string]any{"monday": perDay, "Tue": perDay, "2": perDay, "3": perDay, "4": perDay, "5": perDay, "6": perDay}},
		"confidence_score": 0.9,
	}
}

func items(w map[string]any) []any { return w["items"].([]any) }

func itemOf(w map[string]any, i int) map[string]any { return items(w)[i].(map[string]any) }

// copied returns a deep copy.
func copied(t testing.TB, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	again, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return again.(map[string]any)
}

// house is a set of gates and tools for one database, with test keys.
type house struct {
	Options
	t testing.TB
}

var testPrivate, testPublic, _ = Keygen()

func newHouse(t testing.TB, dsn string) *house {
	open := &Databases{}
	t.Cleanup(func() { open.Close() })
	return &house{Options{DSN: dsn, SigningKey: string(testPrivate), VerifyKey: string(testPublic), Clock: at(noon), Databases: open}, t}
}

func (h *house) judge(gate string, w map[string]any, with map[string]any) (validators.Verdict, error) {
	h.t.Helper()
	v, err := validators.NewSet(Validators(h.Options)...).Find(gate)
	if err != nil {
		h.t.Fatal(err)
	}
	check, err := v.Bind(with)
	if err != nil {
		h.t.Fatal(err)
	}
	return check(context.Background(), validators.Subject{Output: w})
}

// verdict returns the verdict of a gate. An error fails the test.
func (h *house) verdict(gate string, w map[string]any, with map[string]any) validators.Verdict {
	h.t.Helper()
	v, err := h.judge(gate, w, with)
	if err != nil {
		h.t.Fatalf("%s: %v", gate, err)
	}
	return v
}

func (h *house) call(name string, arguments map[string]any) tool.Result {
	h.t.Helper()
	found, err := tool.NewSet(Tools(h.Options)...).Find(name)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := found.Run(context.Background(), tool.Call{Name: name, Arguments: arguments})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) db() *DB {
	h.t.Helper()
	db, err := h.Databases.get(h.DSN)
	if err != nil {
		h.t.Fatal(err)
	}
	return db
}

func (h *house) exec(statement string, args ...any) {
	h.t.Helper()
	if _, err := h.db().write.Exec(statement, args...); err != nil {
		h.t.Fatal(err)
	}
}

// approval is a review without faults.
var approval = map[string]any{"strategic_score": 78, "revenue_aggressiveness": 65, "subscriber_health": 72, "brand_consistency": 85, "concerns": []any{}}

// reviewed returns a week with the critic's decision about it.
func (h *house) reviewed(w, review map[string]any) map[string]any {
	h.t.Helper()
	v := h.verdict(criticGate, map[string]any{"schedule": w, "review": review}, nil)
	w = maps.Clone(w)
	delete(w, "critic_certificate")
	if c := details(v)["critic_certificate"]; c != nil {
		w["critic_certificate"] = copied(h.t, c)
	}
	return w
}

// certified sends a week through the critic, layer 2 and layer 3. It returns the week with its
// proof and certificate.
func (h *house) certified(w map[string]any) map[string]any {
	h.t.Helper()
	w = h.reviewed(w, approval)
	w["validation_proof"] = details(h.verdict(selectionGate, w, nil))["validation_proof"]
	v := h.verdict(qualityGate, w, nil)
	w["validation_certificate"] = copied(h.t, details(v)["validation_certificate"])
	return w
}

// saving returns the arguments of save_schedule.
func saving(w map[string]any) map[string]any {
	return map[string]any{"creator_id": w["creator_id"], "week_start": w["week_start"], "items": w["items"], "validation_certificate": w["validation_certificate"]}
}

func details(v validators.Verdict) map[string]any { return v.Details.(map[string]any) }

// expect is the expected verdict of a table row.
type expect struct {
	code, severity, status, returnTo, at string
	refused                              bool
}

// check checks that a verdict contains the expected finding among the issues or the warnings. It
// also checks the status and the phase to return to.
func (e expect) check(t *testing.T, v validators.Verdict) {
	t.Helper()
	list := v.Warnings
	if e.refused {
		list = v.Issues
	}
	i := slices.IndexFunc(list, func(i validators.Issue) bool {
		return i.Check == e.code && i.Severity == e.severity && (e.at == "" || i.Location == e.at)
	})
	if i < 0 {
		t.Errorf("no finding %+v among %+v", e, list)
	}
	if v.Status != e.status || v.Valid == e.refused {
		t.Errorf("status %s, valid %v; want %s", v.Status, v.Valid, e.status)
	}
	if got := details(v)["return_to"]; got != e.returnTo {
		t.Errorf("return to %q, want %q", got, e.returnTo)
	}
}

// lacks checks that a verdict does not contain a code.
func lacks(t *testing.T, v validators.Verdict, code string) {
	t.Helper()
	for _, i := range slices.Concat(v.Issues, v.Warnings) {
		if i.Check == code {
			t.Errorf("unexpected %+v", i)
		}
	}
}

func codes(v validators.Verdict) []string {
	var list []string
	for _, i := range slices.Concat(v.Issues, v.Warnings) {
		list = append(list, i.Check)
	}
	return list
}
