package schedule

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// benTypes are the content types that may be scheduled for ben, whose page is free.
var benTypes = []string{"travel", "fitness", "gardening", "painting", "photography", "reading", "cycling", "pottery"}

// freeWeek returns a week for ben whose items have these send types in turn.
func freeWeek(n int, kinds ...string) map[string]any {
	w := week(n)
	w["creator_id"], w["page_type"] = "ben", "free"
	for i := range n {
		itemOf(w, i)["send_type_key"] = kinds[i%len(kinds)]
		itemOf(w, i)["content_type"] = benTypes[i%len(benTypes)]
	}
	return w
}

var (
	revenueKeys    = []string{"ppv_unlock", "bundle", "flash_bundle", "game_post", "first_to_tip", "vip_program", "snapchat_bundle"}
	engagementKeys = []string{"link_drop", "wall_link_drop", "bump_normal", "bump_descriptive", "bump_text_only", "bump_flyer", "dm_farm", "like_farm"}
	retentionKeys  = []string{"renew_on_post", "renew_on_message", "ppv_followup", "expired_winback"}
)

func kinds(r, e, t int) []string {
	return slices.Concat(revenueKeys[:r], engagementKeys[:e], retentionKeys[:t])
}

func TestDiversityRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			types             int
			severity          string
			quality, variety  string // the phase to return to
			refusedUnderV2Too bool
		}{
			{9, "CRITICAL", "send-type-allocator", "variety-enforcer", true},
			{10, "HIGH", "variety-enforcer", "variety-enforcer", false},
			{11, "HIGH", "variety-enforcer", "variety-enforcer", false},
			{12, "", "", "", false},
			{13, "", "", "", false},
		} {
			w := h.certified(freeWeek(48, kinds(min(row.types-5, 7), max(5, row.types-7), 0)...))
			v := h.verdict(qualityGate, w, nil)
			old := h.verdict(qualityGate, w, map[string]any{"policy": "v2"})
			if row.severity == "" {
				lacks(t, v, "INSUFFICIENT_DIVERSITY")
				lacks(t, h.verdict(varietyGate, w, nil), "INSUFFICIENT_DIVERSITY")
			} else {
				e := expect{code: "INSUFFICIENT_DIVERSITY", severity: row.severity, status: statusRejected, returnTo: row.quality, at: "items", refused: true}
				e.check(t, v)
				e.returnTo = row.variety
				e.check(t, h.verdict(varietyGate, w, nil))
			}
			if row.refusedUnderV2Too {
				expect{code: "INSUFFICIENT_DIVERSITY", severity: "CRITICAL", status: statusRejected, returnTo: "send-type-allocator", refused: true}.check(t, old)
			} else if !old.Valid || old.Status != statusApproved {
				t.Errorf("v2, %d types: %s", row.types, old.Reason)
			}
		}
	})
}

func TestCategoryRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		few := expect{code: "INSUFFICIENT_DIVERSITY", severity: "HIGH", status: statusRejected, returnTo: "send-type-allocator", at: "items", refused: true}
		for _, row := range []struct {
			r, e, t int
			refused bool
		}{{3, 8, 3, true}, {4, 8, 2, false}, {7, 3, 4, true}, {7, 4, 2, false}, {6, 6, 1, true}, {6, 6, 2, false}} {
			w := week(54)
			for i := range items(w) {
				list := kinds(row.r, row.e, row.t)
				itemOf(w, i)["send_type_key"] = list[i%len(list)]
			}
			v := h.verdict(qualityGate, h.certified(w), nil)
			if row.refused {
				few.check(t, v)
			} else if !v.Valid {
				t.Errorf("%+v: %s", row, v.Reason)
			}
		}
		free := h.certified(freeWeek(48, kinds(6, 6, 0)...))
		if v := h.verdict(qualityGate, free, nil); !v.Valid {
			t.Errorf("a free page needs no retention types: %s", v.Reason)
		}
	})
}

func TestPageTypeRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		page := expect{code: "PAGE_TYPE_VIOLATION", severity: "HIGH", status: statusRejected, returnTo: "send-type-allocator", at: "items[5]", refused: true}
		for _, key := range append([]string{"tip_goal"}, retentionKeys...) {
			w := freeWeek(48, kinds(6, 6, 0)...)
			itemOf(w, 5)["send_type_key"] = key
			page.check(t, h.verdict(qualityGate, h.certified(w), nil))
		}
		followup := freeWeek(48, kinds(6, 6, 0)...)
		itemOf(followup, 5)["send_type_key"] = "ppv_followup"
		v := h.verdict(qualityGate, h.certified(followup), map[string]any{"policy": "allow_ppv_followup_on_free: true"})
		lacks(t, v, "PAGE_TYPE_VIOLATION")
		itemOf(followup, 5)["send_type_key"] = "renew_on_post" // the setting applies to one type only
		page.check(t, h.verdict(qualityGate, h.certified(followup), map[string]any{"policy": "allow_ppv_followup_on_free: true"}))

		w := week(54)
		itemOf(w, 5)["send_type_key"] = "ppv_wall"
		page.check(t, h.verdict(qualityGate, h.certified(w), nil))
		// The database determines the page type. A false claim in the schedule changes nothing.
		w["page_type"] = "free"
		v = h.verdict(qualityGate, h.certified(w), nil)
		page.check(t, v)
		if !slices.Contains(codes(v), "PAGE_TYPE_MISMATCH") {
			t.Error("the false page type is not reported")
		}
		w = week(54)
		for claim, score := range map[any]int{"free": 98, "PAID": 98, "paid": 100, nil: 100} { // a false claim is a finding
			w["page_type"] = claim
			if d := details(h.verdict(qualityGate, h.certified(w), nil)); d["quality_score"] != score {
				t.Errorf("page type %v: score %v, want %d", claim, d["quality_score"], score)
			}
		}
		ok := freeWeek(48, append(kinds(5, 6, 0), "ppv_wall")...)
		if v := h.verdict(qualityGate, h.certified(ok), nil); !v.Valid {
			t.Errorf("ppv_wall is for free pages: %s", v.Reason)
		}
	})
}

func TestVaultAndAvoidRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		itemOf(w, 3)["content_type"] = nil
		itemOf(w, 7)["content_type"] = "gardening" // ranked, not in the vault
		itemOf(w, 9)["content_type"] = "hiking"    // in the vault, AVOID
		itemOf(w, 11)["content_type"] = "Cooking"  // names match exactly
		h.exec("INSERT INTO top_content_types (creator_id, analysis_date, content_type, rank, performance_tier) VALUES ('ada', '2026-01-02', 'gardening', 99, 'AVOID')")
		for _, gate := range []string{selectionGate, qualityGate} {
			v := h.verdict(gate, w, nil)
			for _, row := range []struct{ code, at string }{
				{"VAULT_VIOLATION", "items[3]"}, {"VAULT_VIOLATION", "items[7]"}, {"AVOID_TIER_VIOLATION", "items[7]"},
				{"AVOID_TIER_VIOLATION", "items[9]"}, {"VAULT_VIOLATION", "items[11]"},
			} {
				expect{code: row.code, severity: "CRITICAL", status: statusRejected, returnTo: "caption-selection-pro", at: row.at, refused: true}.check(t, v)
			}
			found := details(v)["violations_found"].(map[string]any)
			if found["vault"] != 3 || found["avoid_tier"] != 2 {
				t.Errorf("%s: %v", gate, found)
			}
		}
	})
}

func TestOnlyTheLatestRankingCounts(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		h.exec("INSERT INTO top_content_types (creator_id, analysis_date, content_type, rank, performance_tier) VALUES ('ada', '2026-01-01', 'cooking', 1, 'AVOID')")
		if v := h.verdict(qualityGate, w, nil); !v.Valid {
			t.Errorf("an older AVOID: %s", v.Reason)
		}
		h.exec("INSERT INTO top_content_types (creator_id, analysis_date, content_type, rank, performance_tier) VALUES ('ada', '2026-01-03', 'travel', 1, 'AVOID')")
		v := h.verdict(qualityGate, w, nil)
		for _, i := range v.Issues {
			if i.Check == "AVOID_TIER_VIOLATION" && i.Got != "travel" {
				t.Errorf("%+v", i)
			}
		}
		if !slices.Contains(codes(v), "AVOID_TIER_VIOLATION") || !slices.Contains(codes(v), "PROOF_MISMATCH") {
			t.Errorf("the new ranking is not seen: %v", codes(v))
		}
	})
}

func TestStrategyRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		used := func(names ...string) (nested, flat map[string]any) {
			nested, flat = map[string]any{}, map[string]any{}
			for i, name := range names {
				nested[fmt.Sprint("2026-01-0", 5+i)] = map[string]any{"strategy_used": name}
				flat[fmt.Sprint("2026-01-0", 5+i)] = name
			}
			return nested, map[string]any{"daily_strategies": flat}
		}
		two, twoFlat := used("a", "b", "a")
		three, threeFlat := used("a", "b", "c", "a")
		four, _ := used("a", "b", "c", "d")
		spelt, speltFlat := used("Balanced", "balanced", " BALANCED ")
		blanks, _ := used("story led", "Story  Led", "balanced", "community")
		composed, _ := used("caf\u00e9", "cafe\u0301", "ｂａｌａｎｃｅｄ", "balan\u200bced")
		scripts, _ := used("故事", "история", "balanced")
		on := func(days ...string) map[string]any {
			m := map[string]any{}
			for i, day := range days {
				m[day] = map[string]any{"strategy_used": fmt.Sprint("strategy ", i)}
			}
			return m
		}
		for _, row := range []struct {
			metadata any
			code     string
			score    int
		}{
			{nil, "MISSING_STRATEGY_METADATA", 85}, {map[string]any{}, "MISSING_STRATEGY_METADATA", 85},
			{two, "INSUFFICIENT_STRATEGIES", 85}, {twoFlat, "INSUFFICIENT_STRATEGIES", 85}, {three, "", 100}, {threeFlat, "", 100}, {four, "", 100},
			{spelt, "INSUFFICIENT_STRATEGIES", 85}, {speltFlat, "INSUFFICIENT_STRATEGIES", 85}, {blanks, "", 100},
			{composed, "INSUFFICIENT_STRATEGIES", 85}, {scripts, "", 100},
			{on("2026-01-05", "2026-01-11", "2026-01-04"), "INSUFFICIENT_STRATEGIES", 85}, {on("2026-01-05", "2026-01-11", "2026-01-12"), "INSUFFICIENT_STRATEGIES", 85},
			{on("2026-01-05", "2026-01-11", "x"), "INSUFFICIENT_STRATEGIES", 85}, {on("2026-01-05", "2026-01-08", "2026-01-11", "x", "2026-01-12"), "", 100},
			{map[string]any{"daily_strategies": map[string]any{"2025-01-05": "a", "2024-01-06": "b", "x": "c"}}, "INSUFFICIENT_STRATEGIES", 85},
		} {
			w := week(54)
			w["strategy_metadata"] = row.metadata
			v := h.verdict(qualityGate, h.certified(w), nil)
			if row.code != "" {
				expect{code: row.code, severity: "HIGH", status: statusRejected, returnTo: "send-type-allocator", at: "strategy_metadata", refused: true}.check(t, v)
			} else if !v.Valid {
				t.Errorf("%v: %s", row.metadata, v.Reason)
			}
			if got := details(v)["quality_score"]; got != row.score {
				t.Errorf("%v: score %v, want %d", row.metadata, got, row.score)
			}
		}
	})
}

func TestCaptionRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			field   string
			value   any
			limited bool
			code    string
		}{
			{"days_since_last_use", 29, false, "LOW_FRESHNESS"}, {"days_since_last_use", 30, false, ""}, {"days_since_last_use", 31, false, ""},
			{"days_since_last_use", nil, false, ""}, {"days_since_last_use", 0, true, "LOW_FRESHNESS"},
			{"days_since_last_use", 19, true, "LOW_FRESHNESS"}, {"days_since_last_use", 20, true, ""}, {"days_since_last_use", 21, true, ""}, {"days_since_last_use", 29, true, ""},
			{"performance_score", 39.9, false, "LOW_PERFORMANCE"}, {"performance_score", 39, false, "LOW_PERFORMANCE"}, {"performance_score", 40, false, ""}, {"performance_score", 41, false, ""}, {"performance_score", nil, false, ""},
			{"performance_score", 29.9, true, "LOW_PERFORMANCE"}, {"performance_score", 30, true, ""}, {"performance_score", 31, true, ""}, {"performance_score", 39, true, ""},
		} {
			for _, reported := range []string{"parameter", "subject"} {
				w, with := week(54), map[string]any{}
				if reported == "subject" {
					w["caption_pool_limited"] = row.limited
				} else {
					with["caption_pool_limited"] = row.limited
				}
				itemOf(w, 2)[row.field] = row.value
				v := h.verdict(qualityGate, h.certified(w), with)
				score := 100
				if row.code == "" {
					lacks(t, v, "LOW_FRESHNESS")
					lacks(t, v, "LOW_PERFORMANCE")
				} else {
					score = 98
					expect{code: row.code, severity: "LOW", status: statusApproved, at: "items[2]"}.check(t, v)
				}
				if details(v)["quality_score"] != score {
					t.Errorf("%+v: score %v", row, details(v)["quality_score"])
				}
			}
		}
	})
}

func TestConfidenceRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			confidence any
			code       string
			status     string
			score      int
		}{
			{1, "", statusApproved, 100}, {0.81, "", statusApproved, 100}, {0.8, "", statusApproved, 100}, {0.79, "MODERATE_CONFIDENCE", statusApproved, 100}, {0.61, "MODERATE_CONFIDENCE", statusApproved, 100}, {0.6, "MODERATE_CONFIDENCE", statusApproved, 100},
			{0.59, "LOW_CONFIDENCE", statusApproved, 95}, {0.41, "LOW_CONFIDENCE", statusApproved, 95}, {0.4, "LOW_CONFIDENCE", statusApproved, 95}, {0.39, "LOW_CONFIDENCE", statusNeedsReview, 90}, {0, "LOW_CONFIDENCE", statusNeedsReview, 90},
			{nil, "UNKNOWN_CONFIDENCE", statusApproved, 100},
		} {
			w := week(54)
			w["confidence_score"] = row.confidence
			v := h.verdict(qualityGate, h.certified(w), nil)
			if row.code != "" {
				expect{code: row.code, severity: "LOW", status: row.status, at: "confidence_score"}.check(t, v)
			}
			if v.Status != row.status || details(v)["quality_score"] != row.score {
				t.Errorf("%+v: %s %v", row, v.Status, details(v)["quality_score"])
			}
		}
		for _, wrong := range []any{-0.01, 1.01, "0.9", 1e300} {
			w := week(54)
			w["confidence_score"] = wrong
			v := h.verdict(qualityGate, h.certified(w), nil)
			expect{code: "INVALID_INPUT", severity: "CRITICAL", status: statusRejected, returnTo: "schedule-assembler", at: "confidence_score", refused: true}.check(t, v)
			lacks(t, v, "UNKNOWN_CONFIDENCE") // there is a confidence
		}
	})
}

// TestScoreRows reaches each score with stale captions and a low confidence. A stale caption
// costs 2 points, and the confidence costs 5.
func TestScoreRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			stale      int
			confidence float64
			score      int
			status     string
		}{
			{0, 0.9, 100, statusApproved}, {7, 0.9, 86, statusApproved}, {5, 0.5, 85, statusApproved}, {8, 0.9, 84, statusNeedsReview},
			{12, 0.5, 71, statusNeedsReview}, {15, 0.9, 70, statusNeedsReview}, {13, 0.5, 69, statusRejected}, {54, 0.9, 0, statusRejected},
		} {
			w := week(54)
			w["confidence_score"] = row.confidence
			for i := range row.stale {
				itemOf(w, i)["days_since_last_use"] = 1
			}
			v := h.verdict(qualityGate, h.certified(w), nil)
			if v.Status != row.status || details(v)["quality_score"] != row.score || details(v)["validation_status"] != row.status {
				t.Errorf("%+v: %s, score %v", row, v.Status, details(v)["quality_score"])
			}
			switch row.status {
			case statusNeedsReview:
				expect{code: "QUALITY_REVIEW", severity: "LOW", status: statusNeedsReview}.check(t, v)
			case statusRejected:
				expect{code: "LOW_QUALITY_SCORE", severity: "MODERATE", status: statusRejected, returnTo: "previous phase", refused: true}.check(t, v)
			}
		}
	})
}

func TestAllViolationsAreCollected(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		for i := range items(w) {
			itemOf(w, i)["content_type"] = "pottery" // AVOID, and not in ada's vault
			itemOf(w, i)["send_type_key"] = "ppv_wall"
		}
		v := h.verdict(qualityGate, w, nil)
		count := map[string]int{}
		for _, i := range v.Issues {
			count[i.Check]++
		}
		want := map[string]int{"VAULT_VIOLATION": 54, "AVOID_TIER_VIOLATION": 54, "PAGE_TYPE_VIOLATION": 54, "INSUFFICIENT_DIVERSITY": 4, "LOW_QUALITY_SCORE": 1}
		if !maps.Equal(count, want) {
			t.Errorf("got %v, want %v", count, want)
		}
		back := details(v)["issues_return_to"].([]any)
		reported := map[string]int{}
		for i, issue := range v.Issues {
			reported[fmt.Sprint(issue.Check, " to ", back[i])]++
		}
		want = map[string]int{
			"VAULT_VIOLATION to caption-selection-pro": 54, "AVOID_TIER_VIOLATION to caption-selection-pro": 54, "PAGE_TYPE_VIOLATION to send-type-allocator": 54,
			"INSUFFICIENT_DIVERSITY to send-type-allocator": 4, "LOW_QUALITY_SCORE to previous phase": 1,
		}
		if !maps.Equal(reported, want) || len(back) != len(v.Issues) {
			t.Errorf("got %v, want %v", reported, want)
		}
		if len(v.Reason) > 4000 {
			t.Errorf("a reason of %d bytes", len(v.Reason))
		}
	})
}

// TestPhaseOfEachFinding checks that findings with the same code can return to different phases.
func TestPhaseOfEachFinding(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := week(50)
	for i := range items(w) {
		itemOf(w, i)["send_type_key"] = kinds(3, 6, 1)[i%10]
	}
	d := details(h.verdict(qualityGate, h.certified(w), nil))
	if got := fmt.Sprint(d["issues_return_to"]); got != "[variety-enforcer send-type-allocator send-type-allocator]" || d["return_to"] != "variety-enforcer" {
		t.Errorf("%s, %v", got, d["return_to"])
	}
	w["creator_id"] = "nobody" // no phase can correct this
	d = details(h.verdict(qualityGate, w, nil))
	if got := fmt.Sprintf("%q", d["issues_return_to"]); got != `["" "variety-enforcer" "send-type-allocator"]` {
		t.Errorf("%s", got)
	}
	w["validation_certificate"] = nil // the repeated checks name their phases too
	v := h.verdict(certificateGate, func() map[string]any { w := maps.Clone(w); w["creator_id"] = "ada"; return w }(), nil)
	if got := fmt.Sprint(details(v)["issues_return_to"]); got != "[quality-validator variety-enforcer variety-enforcer]" {
		t.Errorf("%s: %s", got, v.Reason)
	}
	if v := h.verdict(qualityGate, h.certified(week(54)), nil); fmt.Sprint(details(v)["issues_return_to"]) != "[]" {
		t.Errorf("%v", details(v)["issues_return_to"])
	}
}

func TestProofRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for name, row := range map[string]struct {
			change func(w, proof map[string]any)
			code   string
		}{
			"missing":       {func(w, _ map[string]any) { delete(w, "validation_proof") }, "MISSING_PROOF"},
			"null":          {func(w, _ map[string]any) { w["validation_proof"] = nil }, "MISSING_PROOF"},
			"text":          {func(w, _ map[string]any) { w["validation_proof"] = "ok" }, "MISSING_PROOF"},
			"empty vault":   {func(_, p map[string]any) { p["vault_types_fetched"] = []any{} }, "INVALID_PROOF"},
			"no avoid":      {func(_, p map[string]any) { delete(p, "avoid_types_fetched") }, "INVALID_PROOF"},
			"avoid is null": {func(_, p map[string]any) { p["avoid_types_fetched"] = nil }, "INVALID_PROOF"},
			"no calls":      {func(_, p map[string]any) { delete(p, "mcp_calls_executed") }, "INVALID_PROOF"},
			"one call":      {func(_, p map[string]any) { delete(p["mcp_calls_executed"].(map[string]any), rankingsTool) }, "INVALID_PROOF"},
			"called: \"true\"": {func(_, p map[string]any) {
				p["mcp_calls_executed"].(map[string]any)[vaultTool] = map[string]any{"called": "true"}
			}, "INVALID_PROOF"},
			"filter off":      {func(_, p map[string]any) { p["mcp_avoid_filter_active"] = false }, "INVALID_PROOF"},
			"filter is text":  {func(_, p map[string]any) { p["mcp_avoid_filter_active"] = "true" }, "INVALID_PROOF"},
			"other avoid":     {func(_, p map[string]any) { p["avoid_types_fetched"] = []any{} }, "PROOF_MISMATCH"},
			"as many avoid":   {func(_, p map[string]any) { p["avoid_types_fetched"] = []any{"hiking", "music"} }, "PROOF_MISMATCH"},
			"more avoid":      {func(_, p map[string]any) { p["avoid_types_fetched"] = []any{"hiking", "pottery", "music"} }, "PROOF_MISMATCH"},
			"other vault":     {func(_, p map[string]any) { p["vault_types_fetched"] = []any{"cooking"} }, "PROOF_MISMATCH"},
			"names of things": {func(_, p map[string]any) { p["vault_types_fetched"] = []any{1} }, "INVALID_PROOF"},
		} {
			t.Run(name, func(t *testing.T) {
				w := h.certified(week(54))
				row.change(w, w["validation_proof"].(map[string]any))
				v := h.verdict(qualityGate, w, nil)
				expect{code: row.code, severity: "CRITICAL", status: statusRejected, returnTo: "caption-selection-pro", refused: true}.check(t, v)
				if details(v)["upstream_proof_verified"] != false {
					t.Error("the certificate says that the proof was good")
				}
			})
		}
		w := h.certified(week(54))
		proof := w["validation_proof"].(map[string]any)
		slices.Reverse(proof["vault_types_fetched"].([]any))
		w["validation_proof"] = map[string]any{"validation_proof": proof}
		if v := h.verdict(qualityGate, w, nil); !v.Valid {
			t.Errorf("order does not matter, nor one wrapping: %s", v.Reason)
		}
	})
}

func TestSelectionProves(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := week(54)
		itemOf(w, 0)["content_type"], itemOf(w, 18)["content_type"] = "pottery", nil // both ppv_unlock
		v := h.verdict(selectionGate, w, nil)
		proof := copied(t, details(v)["validation_proof"])
		if got := fmt.Sprint(proof["avoid_types_fetched"]); got != "[hiking pottery]" {
			t.Errorf("avoid: %s", got)
		}
		if got := fmt.Sprint(proof["earnings_ranking_used"].([]any)[:2]); got != "[cooking:$48k travel:$44k]" {
			t.Errorf("earnings: %s", got)
		}
		slot := proof["ppv_content_rotation"].([]any)[1].(map[string]any)
		if slot["slot"] != "Wed-11:14" || slot["content_type"] != nil || slot["position"] != 2 {
			t.Errorf("rotation: %v", slot)
		}
		call := proof["mcp_calls_executed"].(map[string]any)[vaultTool].(map[string]any)
		if call["timestamp"] != noon.Format(time.RFC3339) {
			t.Errorf("call: %v", call)
		}
		better := details(v)["alternatives"].([]any)
		if len(better) != 2 {
			t.Fatalf("alternatives: %v", better)
		}
		first, second := better[0].(map[string]any), better[1].(map[string]any)
		if first["item"] != 0 || second["item"] != 18 || first["caption_id"] == second["caption_id"] {
			t.Errorf("alternatives: %v", better)
		}
		for _, a := range better {
			if a := a.(map[string]any); a["caption_type"] != "ppv_unlock" || !slices.Contains(goodTypes, a["content_type"].(string)) {
				t.Errorf("alternative %v", a)
			}
		}
	})
}
