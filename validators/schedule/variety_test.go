package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// mix returns items with the given numbers of send types. The argument ppv lists the content
// types of the PPV slots in turn.
func mix(counts map[string]int, ppv ...string) map[string]any {
	list := []any{}
	slot := 0
	for _, s := range everySendType() {
		for range counts[s.Key] {
			it := map[string]any{"send_type_key": s.Key, "content_type": "cooking"}
			if s.PPV {
				it["content_type"] = ppv[slot%len(ppv)]
				slot++
			}
			list = append(list, it)
		}
	}
	return map[string]any{"creator_id": "ada", "items": list}
}

// evenly returns n items for every send type except the PPV types.
func evenly(n int) map[string]int {
	counts := map[string]int{}
	for _, s := range everySendType() {
		if !s.PPV {
			counts[s.Key] = n
		}
	}
	return counts
}

var varietyRow = expect{severity: "HIGH", status: statusRejected, returnTo: "variety-enforcer", refused: true}

func TestTypeShareRows(t *testing.T) {
	h := newHouse(t, "")
	for _, row := range []struct{ largest, all int }{{199, 1000}, {200, 1000}, {201, 1000}, {2, 10}, {7, 35}, {3, 14}} {
		counts := map[string]int{"bundle": row.largest}
		others := append(slices.Clone(engagementKeys), retentionKeys...)
		for i := range row.all - row.largest {
			counts[others[i%len(others)]]++
		}
		v := h.verdict(varietyGate, mix(counts, goodTypes...), nil)
		if row.largest*5 > row.all {
			e := varietyRow
			e.code = "SEND_TYPE_CONCENTRATION"
			e.check(t, v)
		} else {
			lacks(t, v, "SEND_TYPE_CONCENTRATION")
		}
		if got, want := details(v)["max_type_concentration"].(float64), float64(row.largest)/float64(row.all); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: concentration %v, want %v", row, got, want)
		}
	}
}

func TestContentShareRows(t *testing.T) {
	h := newHouse(t, "")
	repeat := func(n, all int) []string {
		list := make([]string, all)
		for i := range list {
			if list[i] = "music"; i >= n {
				list[i] = fmt.Sprint("type ", i)
			}
		}
		return list
	}
	for _, row := range []struct {
		n, slots int
		refused  bool
	}{
		{249, 1000, false}, {250, 1000, false}, {251, 1000, true}, {1, 4, false}, {2, 4, true}, {2, 8, false}, {3, 8, true},
		{1, 3, false}, {2, 3, true}, {1, 2, false}, {2, 2, true}, {1, 1, false}, {1, 5, false}, {2, 7, true},
	} {
		counts := evenly(row.slots)
		counts["ppv_unlock"] = row.slots
		v := h.verdict(varietyGate, mix(counts, repeat(row.n, row.slots)...), nil)
		if row.refused {
			e := varietyRow
			e.code = "CONTENT_TYPE_CONCENTRATION"
			e.check(t, v)
			if few := strings.Contains(v.Reason, "which is all that fewer than 4 slots allow"); few != (row.slots < 4) {
				t.Errorf("%d of %d: %s", row.n, row.slots, v.Reason)
			}
		} else {
			lacks(t, v, "CONTENT_TYPE_CONCENTRATION")
		}
	}
	v := h.verdict(varietyGate, mix(evenly(2)), nil)
	if details(v)["max_content_concentration"] != 0.0 || !v.Valid {
		t.Errorf("without a PPV slot the concentration is 0: %s", v.Reason)
	}
}

// TestEveryConcentrationIsReported checks that each type that is too frequent has a finding, in a
// fixed order.
func TestEveryConcentrationIsReported(t *testing.T) {
	h := newHouse(t, "")
	of := func(code string, v validators.Verdict) (found []string) {
		for _, i := range v.Issues {
			if i.Check == code {
				found = append(found, i.Message[:strings.Index(i.Message, " has")]+" "+i.Got)
			}
		}
		return found
	}
	counts := map[string]int{"ppv_unlock": 5, "link_drop": 5, "bundle": 4, "dm_farm": 6, "like_farm": 2, "live_promo": 2}
	if got, want := of("SEND_TYPE_CONCENTRATION", h.verdict(varietyGate, mix(counts, goodTypes...), nil)), []string{"ppv_unlock 20.8 %", "link_drop 20.8 %", "dm_farm 25 %"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for _, row := range []struct{ ppv, want []string }{
		{[]string{"travel", "music", "travel", "music", "travel", "music", "cooking", "cooking"}, []string{`content type "music" 37.5 %`, `content type "travel" 37.5 %`}},
		{[]string{"travel", "travel", "music"}, []string{`content type "travel" 66.7 %`}},
		{[]string{"travel", "travel", "music", "music", "cooking"}, []string{`content type "music" 40 %`, `content type "travel" 40 %`}},
		{[]string{"travel", "music", "cooking"}, nil},
	} {
		for range 10 {
			counts := evenly(len(row.ppv))
			counts["ppv_unlock"] = len(row.ppv)
			if got := of("CONTENT_TYPE_CONCENTRATION", h.verdict(varietyGate, mix(counts, row.ppv...), nil)); !slices.Equal(got, row.want) {
				t.Fatalf("%v: %q", row.ppv, got)
			}
		}
	}
}

// TestVarietyScoreRows checks the parts of the score. 22 types give 40 points. A third of the
// items in one send type leaves 20 points, and half of the slots in one content type leaves 15.
func TestVarietyScoreRows(t *testing.T) {
	h := newHouse(t, "")
	counts := evenly(2)
	counts["ppv_unlock"], counts["ppv_wall"], counts["bundle"] = 2, 2, 21
	v := h.verdict(varietyGate, mix(counts, "music", "travel"), nil)
	lacks(t, v, "LOW_VARIETY_SCORE")
	if got := details(v)["variety_score"].(float64); math.Abs(got-75) > 1e-9 {
		t.Errorf("score %v, want 75", got)
	}
	counts["bundle"] = 20
	lacks(t, h.verdict(varietyGate, mix(counts, "music", "travel"), nil), "LOW_VARIETY_SCORE")
	counts["bundle"] = 22
	v = h.verdict(varietyGate, mix(counts, "music", "travel"), nil)
	e := varietyRow
	e.code = "LOW_VARIETY_SCORE"
	e.check(t, v)
	if !strings.Contains(v.Reason, "22 of 22 send types are used, the most frequent for 34.4 % of the items; one content type fills 50 % of the PPV slots") {
		t.Errorf("the shares are not in the reason: %s", v.Reason)
	}
	if got := details(v)["variety_score"].(float64); math.Abs(got-(40+30*(1-22.0/64)+15)) > 1e-9 {
		t.Errorf("score %v", got)
	}
}

func TestAliasesAreOneType(t *testing.T) {
	h := newHouse(t, "")
	w := week(54)
	for i, alias := range []string{"ppv_unlock", "ppv_video", "ppv_message"} {
		itemOf(w, i*18)["send_type_key"] = alias
	}
	v := h.verdict(varietyGate, w, nil)
	if details(v)["unique_types"] != 18 || details(v)["ppv_slots"] != 3 {
		t.Errorf("%v", details(v))
	}
}

func TestNothingToSend(t *testing.T) {
	h := newHouse(t, "")
	v := h.verdict(varietyGate, map[string]any{"creator_id": "ada", "items": []any{}}, nil)
	expect{code: "INSUFFICIENT_DIVERSITY", severity: "CRITICAL", status: statusRejected, returnTo: "variety-enforcer", refused: true}.check(t, v)
}

func TestCriticRows(t *testing.T) {
	h := newHouse(t, "")
	of := func(severities ...any) []any {
		list := make([]any, len(severities))
		for i, s := range severities {
			list[i] = map[string]any{"text": "too many sendings", "severity": s}
		}
		return list
	}
	good := map[string]any{"strategic_score": 78, "revenue_aggressiveness": 65, "subscriber_health": 72, "brand_consistency": 85, "concerns": []any{"one"}}
	for _, row := range []struct {
		field    string
		value    any
		code     string
		severity string
		decision string
	}{
		{"revenue_aggressiveness", 79, "", "", "APPROVE"}, {"revenue_aggressiveness", 80, "", "", "APPROVE"}, {"revenue_aggressiveness", 80.1, "REVENUE_TOO_AGGRESSIVE", "HIGH", "BLOCK"}, {"revenue_aggressiveness", 81, "REVENUE_TOO_AGGRESSIVE", "HIGH", "BLOCK"},
		{"subscriber_health", 40, "", "", "APPROVE"}, {"subscriber_health", 39.9, "SUBSCRIBER_HEALTH_RISK", "HIGH", "BLOCK"}, {"subscriber_health", 39, "SUBSCRIBER_HEALTH_RISK", "HIGH", "BLOCK"}, {"subscriber_health", 41, "", "", "APPROVE"},
		{"brand_consistency", 50, "", "", "APPROVE"}, {"brand_consistency", 49, "BRAND_RISK", "HIGH", "BLOCK"}, {"brand_consistency", 51, "", "", "APPROVE"},
		{"concerns", []any{"a", "b"}, "", "", "APPROVE"}, {"concerns", []any{"a", "b", "c"}, "MULTIPLE_CONCERNS", "HIGH", "BLOCK"},
		{"concerns", []any{map[string]any{"severity": "minor"}, "b", "c"}, "", "", "APPROVE"},
		{"concerns", of("severe", "severe", "severe"), "MULTIPLE_CONCERNS", "HIGH", "BLOCK"}, {"concerns", of("blocking", "Serious", "P0"), "MULTIPLE_CONCERNS", "HIGH", "BLOCK"},
		{"concerns", of("MAJOR", "High", "critical"), "MULTIPLE_CONCERNS", "HIGH", "BLOCK"}, {"concerns", of("major", "minor", "high", "low", "severe"), "MULTIPLE_CONCERNS", "HIGH", "BLOCK"},
		{"concerns", of("", nil, 7), "MULTIPLE_CONCERNS", "HIGH", "BLOCK"}, {"concerns", of("medium-high", "low to major", "not minor"), "MULTIPLE_CONCERNS", "HIGH", "BLOCK"},
		{"concerns", of("minor", "LOW", "Moderate", "medium", "info", "trivial", "note"), "", "", "APPROVE"}, {"concerns", of(" minor ", "Very Low", "low/medium", "minor (cosmetic)", "informational", "WARNING", "negligible"), "", "", "APPROVE"},
		{"concerns", of("severe", "severe", "minor", "minor"), "", "", "APPROVE"},
		{"major_concerns", 2, "", "", "APPROVE"}, {"major_concerns", 3, "MULTIPLE_CONCERNS", "HIGH", "BLOCK"}, {"major_concerns", []any{"a", "b", "c", "d"}, "MULTIPLE_CONCERNS", "HIGH", "BLOCK"},
		{"strategic_score", 71, "", "", "APPROVE"}, {"strategic_score", 70, "", "", "APPROVE"}, {"strategic_score", 69, "LOW_STRATEGIC_SCORE", "MODERATE", "REVISE"}, {"strategic_score", nil, "", "", "APPROVE"},
		{"critic_decision", "APPROVE", "", "", "APPROVE"}, {"critic_decision", nil, "", "", "APPROVE"}, {"critic_decision", " approve ", "", "", "APPROVE"},
		{"critic_decision", "BLOCK", "CRITIC_BLOCK", "HIGH", "BLOCK"}, {"critic_decision", "block", "CRITIC_BLOCK", "HIGH", "BLOCK"},
		{"critic_decision", "REVISE", "CRITIC_REVISE", "MODERATE", "REVISE"},
		{"critic_decision", "HOLD", "INVALID_INPUT", "CRITICAL", "BLOCK"}, {"critic_decision", []any{"APPROVE"}, "INVALID_INPUT", "CRITICAL", "BLOCK"},
		{"subscriber_health", nil, "INVALID_INPUT", "CRITICAL", "BLOCK"}, {"subscriber_health", "72", "INVALID_INPUT", "CRITICAL", "BLOCK"},
		{"brand_consistency", 101, "INVALID_INPUT", "CRITICAL", "BLOCK"}, {"revenue_aggressiveness", -1, "INVALID_INPUT", "CRITICAL", "BLOCK"},
	} {
		w := copied(t, good)
		w[row.field] = row.value
		v := h.verdict(criticGate, w, nil)
		status, back := map[string]string{"APPROVE": statusApproved, "REVISE": statusRevise, "BLOCK": statusRejected}[row.decision], "revenue-optimizer"
		if row.code == "INVALID_INPUT" {
			back = "schedule-critic"
		}
		if row.code != "" {
			expect{code: row.code, severity: row.severity, status: status, returnTo: back, refused: true}.check(t, v)
		}
		if details(v)["critic_decision"] != row.decision || v.Status != status {
			t.Errorf("%s = %v: %v, %s", row.field, row.value, details(v)["critic_decision"], v.Reason)
		}
	}
	// Concerns with a major severity always count. A smaller number in major_concerns does not
	// change that.
	for word, decision := range map[string]string{"major": "BLOCK", "severe": "BLOCK", "": "APPROVE", "minor": "APPROVE"} {
		w := copied(t, good)
		w["major_concerns"], w["concerns"] = 0, of(word, word, word)
		if v := h.verdict(criticGate, w, nil); details(v)["critic_decision"] != decision {
			t.Errorf("no major concerns, and three of severity %q: %s", word, v.Reason)
		}
	}
	// A blocking finding is not a revision. Scores may come from the parameters.
	v := h.verdict(criticGate, nil, map[string]any{"strategic_score": 10, "revenue_aggressiveness": 90, "subscriber_health": 72, "brand_consistency": 85})
	expect{code: "REVENUE_TOO_AGGRESSIVE", severity: "HIGH", status: statusRejected, returnTo: "revenue-optimizer", refused: true}.check(t, v)
	lacks(t, v, "LOW_STRATEGIC_SCORE")
}

// TestCriticDecisionWorse checks that the effective decision is the worse of the claimed and the
// computed one. The signed statement has that decision.
func TestCriticDecisionWorse(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	scored := func(strategic, aggressive float64) map[string]any {
		return map[string]any{"strategic_score": strategic, "revenue_aggressiveness": aggressive, "subscriber_health": 90, "brand_consistency": 90}
	}
	approve, revise, block := scored(90, 10), scored(60, 10), scored(90, 95)
	for name, row := range map[string]struct {
		review  map[string]any
		claimed string
		beside  string // claimed beside the review
		want    string
	}{
		"approved, claimed APPROVE":    {approve, "APPROVE", "", "APPROVE"},
		"approved, claimed REVISE":     {approve, "REVISE", "", "REVISE"},
		"approved, claimed BLOCK":      {approve, "BLOCK", "", "BLOCK"},
		"revised, claimed APPROVE":     {revise, "APPROVE", "", "REVISE"},
		"revised, claimed BLOCK":       {revise, "BLOCK", "", "BLOCK"},
		"blocked, claimed APPROVE":     {block, "APPROVE", "", "BLOCK"},
		"blocked, claimed REVISE":      {block, "REVISE", "", "BLOCK"},
		"BLOCK beside the review":      {approve, "APPROVE", "BLOCK", "BLOCK"},
		"APPROVE beside a BLOCK":       {approve, "BLOCK", "APPROVE", "BLOCK"},
		"BLOCK beside a silent review": {approve, "", "BLOCK", "BLOCK"},
	} {
		review := maps.Clone(row.review)
		subject := map[string]any{"schedule": week(54), "review": review}
		if row.claimed != "" {
			review["critic_decision"] = row.claimed
		}
		if row.beside != "" {
			subject["critic_decision"] = row.beside
		}
		v := h.verdict(criticGate, subject, nil)
		signed, _ := details(v)["critic_certificate"].(map[string]any)
		if details(v)["critic_decision"] != row.want || v.Valid != (row.want == "APPROVE") || signed["critic_decision"] != row.want {
			t.Errorf("%s: %v, valid %v, signed %v; want %s: %s", name, details(v)["critic_decision"], v.Valid, signed["critic_decision"], row.want, v.Reason)
		}
	}
}
