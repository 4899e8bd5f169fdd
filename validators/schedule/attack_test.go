package schedule

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// dear returns a week with a PPV message for $9,999.
func dear() map[string]any {
	w := week(54)
	itemOf(w, 0)["price"] = 9999.0
	return w
}

// TestOutliersAreNotSaved checks that faults found by earlier gates are not certified
// as approved. A forged approval is rejected again when the schedule is saved.
func TestOutliersAreNotSaved(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		twice := week(54)
		for i := range items(twice) {
			itemOf(twice, i)["send_type_key"] = "ppv_unlock"
		}
		for code, w := range map[string]map[string]any{"PRICE_OUTLIER": dear(), "SEND_TYPE_CONCENTRATION": twice} {
			w = h.certified(w)
			if c := w["validation_certificate"].(map[string]any); c["validation_status"] != statusRejected {
				t.Errorf("%s is certified as %v", code, c["validation_status"])
			}
			// A forged signature by the operator's key does not help.
			forged := copied(t, w["validation_certificate"])
			forged["validation_status"] = statusApproved
			for _, e := range forged["evidence"].(map[string]any) {
				e.(map[string]any)["valid"] = true
			}
			forged["violations_found"] = map[string]any{"vault": 0, "avoid_tier": 0, "critical": 0}
			w["validation_certificate"] = resign(t, forged)
			if r := h.call(saveTool, saving(w)); !r.Failed || !strings.Contains(r.Text(), code) {
				t.Errorf("phase 2: %s", r.Text())
			}
			if v := h.verdict(certificateGate, w, nil); v.Valid || !slices.Contains(codes(v), code) {
				t.Errorf("the gate: %v", codes(v))
			}
			if err := h.db().SetPhase(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			r := h.call(saveTool, saving(w))
			if saved, _ := r.Value.(map[string]any); r.Failed || saved["status"] != statusWarning || !strings.Contains(r.Text(), code) {
				t.Errorf("phase 1: %s", r.Text())
			}
			if err := h.db().SetPhase(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
		}
	})
}

const soft = "limits: {price_sigmas: 10000, min_types: 1, min_types_hard: 1, max_type_share: 1}"

// TestCallersPolicyIsNotSigned checks that the operator's key signs only under the
// operator's policy. A caller with another policy gets no signature. A certificate
// signed under another policy is not saved.
func TestCallersPolicyIsNotSigned(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(dear())
	for _, with := range []map[string]any{{"policy": soft}, {"policy": "v2"}, {"policy": "extends: v2"}, {"db": sqliteDSN(t)}} {
		v := h.verdict(qualityGate, w, with)
		c := details(v)["validation_certificate"].(map[string]any)
		if c[statements.SignatureField] != "" || c[statements.KeyIDField] != "" || !slices.Contains(codes(v), "CERTIFICATE_UNSIGNED") || !strings.Contains(v.Reason, "key's owner") {
			t.Errorf("%v: signed %v: %s", with, c[statements.SignatureField], v.Reason)
		}
		v = h.verdict(criticGate, map[string]any{"schedule": w, "review": approval}, with)
		if details(v)["critic_certificate"] != nil {
			t.Errorf("%v: the critic's decision is signed", with)
		}
	}
	// Another spelling of the operator's policy is the same policy.
	for _, same := range []string{"v3", "extends: v3", "limits: {price_sigmas: 3.0}"} {
		if v := h.verdict(qualityGate, w, map[string]any{"policy": same}); slices.Contains(codes(v), "CERTIFICATE_UNSIGNED") {
			t.Errorf("%s: %s", same, v.Reason)
		}
	}
	// A caller with a policy and a key acts as a separate operator. The certificate is valid
	// under that policy only.
	with := map[string]any{"policy": soft, "signing_key": string(testPrivate)}
	own := maps.Clone(w)
	own["critic_certificate"] = details(h.verdict(criticGate, map[string]any{"schedule": w, "review": approval}, with))["critic_certificate"]
	own["validation_certificate"] = details(h.verdict(qualityGate, own, with))["validation_certificate"]
	if r := h.call(saveTool, saving(own)); !r.Failed || !strings.Contains(r.Text(), "POLICY_MISMATCH") || !strings.Contains(r.Text(), "PRICE_OUTLIER") {
		t.Errorf("by the operator's policy: %s", r.Text())
	}
	order := saving(own)
	order["policy"] = soft
	if r := h.asModel(order); !r.Failed || !strings.Contains(r.Text(), "policy is not a model's to choose") {
		t.Errorf("a model: %s", r.Text())
	}
	if r := h.call(saveTool, order); r.Failed {
		t.Errorf("a cascade of that policy: %s", r.Text())
	}
	h.Policy = "v3"
	if r := h.call(saveTool, order); !r.Failed || !strings.Contains(r.Text(), "set by the operator") {
		t.Errorf("against the operator's policy: %s", r.Text())
	}
	h.Policy, h.DSN, order = "", "", saving(own)
	order["db"] = sqliteDSN(t)
	if r := h.asModel(order); !r.Failed || !strings.Contains(r.Text(), "db is not a model's to choose") {
		t.Errorf("a model's database: %s", r.Text())
	}
}

// TestWeekIsBound checks that a certificate is valid for one week, even if its items fit into
// two.
func TestWeekIsBound(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := week(54)
	for i := range items(w) {
		if itemOf(w, i)["scheduled_date"] == demoWeek {
			itemOf(w, i)["scheduled_date"] = "2026-01-06"
		}
	}
	w["volume_config"] = map[string]any{"weekly_distribution": []any{8, 16, 8, 8, 8, 8, 8}}
	w = h.certified(w)
	refusedAs(t, h, w, "")
	moved := maps.Clone(w)
	moved["week_start"] = "2026-01-06"
	refusedAs(t, h, moved, "WEEK_MISMATCH")
	for _, zoned := range []string{"2026-01-05T00:00:00Z", "2026-01-05T00:00:00+14:00", "2026-W02", "05.01.2026", " 2026-01-05"} {
		moved["week_start"] = zoned
		if r := h.call(saveTool, saving(moved)); !r.Failed || !strings.Contains(r.Text(), "week_start") {
			t.Errorf("%s: %s", zoned, r.Text())
		}
	}
}

// TestFactsAtTheTimeOfSaving checks that a save uses the current facts of the database.
func TestFactsAtTheTimeOfSaving(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		for name, row := range map[string]struct {
			change, back string
			codes        []string
		}{
			"inactive":    {"UPDATE creators SET is_active = 0 WHERE creator_id = 'ada'", "UPDATE creators SET is_active = 1", []string{"CREATOR_INACTIVE"}},
			"a free page": {"UPDATE creators SET page_type = 'free' WHERE creator_id = 'ada'", "UPDATE creators SET page_type = 'paid' WHERE creator_id = 'ada'", []string{"PAGE_TYPE_VIOLATION", "PAGE_TYPE_MISMATCH"}},
			"AVOID now": {"UPDATE top_content_types SET performance_tier = 'AVOID' WHERE creator_id = 'ada' AND content_type = 'cooking'",
				"UPDATE top_content_types SET performance_tier = 'TOP' WHERE creator_id = 'ada' AND content_type = 'cooking'", []string{"AVOID_TIER_VIOLATION", "HASH_MISMATCH"}},
			"another database": {"UPDATE schedule_settings SET value = 'x' || value WHERE name = 'database_id'", "UPDATE schedule_settings SET value = substr(value, 2) WHERE name = 'database_id'", []string{"DATABASE_MISMATCH"}},
			"other prices":     {"UPDATE mass_messages SET price = price * 10", "UPDATE mass_messages SET price = price / 10", []string{"PRICE_OUTLIER"}},
			"no such content":  {"UPDATE content_types SET type_name = 'cookery' WHERE type_name = 'cooking'", "UPDATE content_types SET type_name = 'cooking' WHERE type_name = 'cookery'", []string{"UNKNOWN_CONTENT_TYPE", "VAULT_VIOLATION", "HASH_MISMATCH"}},
		} {
			h.exec(row.change)
			v, r := h.verdict(certificateGate, w, nil), h.call(saveTool, saving(w))
			for _, code := range row.codes {
				if v.Valid || !slices.Contains(codes(v), code) || !r.Failed {
					t.Errorf("%s: %v; %s", name, codes(v), r.Text())
				}
			}
			got := slices.Compact(slices.Sorted(slices.Values(codes(v))))
			if slices.Sort(row.codes); !slices.Equal(got, row.codes) {
				t.Errorf("%s: %v", name, got)
			}
			h.exec(row.back)
		}
		refusedAs(t, h, w, "")
		h.exec("UPDATE creators SET is_active = 0 WHERE creator_id = 'ada'")
		if v := h.verdict(certificateGate, h.certified(week(54)), nil); !slices.Equal(codes(v), []string{"CREATOR_INACTIVE", "CREATOR_INACTIVE"}) {
			t.Errorf("certified while inactive: %v", codes(v))
		}
	})
}

// TestCriticsDecision checks that a certificate needs a signed decision of the critic. The
// decision must approve exactly these items.
func TestCriticsDecision(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	good := h.certified(week(54))
	own, _ := newSigner(string(testPrivate))
	changed := func(change func(c map[string]any)) func(map[string]any) {
		return func(w map[string]any) {
			c := copied(t, good["critic_certificate"])
			change(c)
			w["critic_certificate"] = c
		}
	}
	resealed := func(field string, value any) func(map[string]any) {
		return changed(func(c map[string]any) {
			c[field] = value
			statements.Seal(statements.Critic, own, c)
		})
	}
	harsh := maps.Clone(approval)
	harsh["revenue_aggressiveness"] = 81
	for name, row := range map[string]struct {
		change   func(w map[string]any)
		code     string
		reported string
	}{
		"as signed": {func(map[string]any) {}, "", "good"},
		"within an object": {func(w map[string]any) {
			w["critic_certificate"] = map[string]any{"critic_certificate": w["critic_certificate"]}
		}, "", "good"},
		"none":                {func(w map[string]any) { delete(w, "critic_certificate") }, "MISSING_EVIDENCE", "no critic_certificate"},
		"a word":              {func(w map[string]any) { w["critic_certificate"] = "APPROVE" }, "MISSING_EVIDENCE", "no critic_certificate"},
		"not signed":          {changed(func(c map[string]any) { c[statements.SignatureField] = "" }), "MISSING_EVIDENCE", "signature"},
		"changed":             {changed(func(c map[string]any) { c["strategic_score"] = 99 }), "MISSING_EVIDENCE", "signature"},
		"as a certificate":    {changed(func(c map[string]any) { statements.Seal(statements.Certificate, own, c) }), "MISSING_EVIDENCE", "signature"},
		"its version":         {resealed(statements.VersionField, "1.0"), "MISSING_EVIDENCE", "format"},
		"of other items":      {func(w map[string]any) { w["critic_certificate"] = h.reviewed(week(40), approval)["critic_certificate"] }, "MISSING_EVIDENCE", "other items"},
		"of another creator":  {resealed("creator_id", "cleo"), "MISSING_EVIDENCE", "another creator"},
		"of another week":     {resealed("week_start", "2026-01-12"), "MISSING_EVIDENCE", "another week"},
		"by another policy":   {resealed("policy_digest", "x"), "MISSING_EVIDENCE", "another policy"},
		"a no":                {func(w map[string]any) { w["critic_certificate"] = h.reviewed(w, harsh)["critic_certificate"] }, "INVALID_STATUS", "good"},
		"to be revised":       {resealed("critic_decision", "REVISE"), "INVALID_STATUS", "good"},
		"of no decision":      {resealed("critic_decision", nil), "INVALID_STATUS", "good"},
		"certificate instead": {func(w map[string]any) { w["critic_certificate"] = w["validation_certificate"] }, "MISSING_EVIDENCE", "signature"},
	} {
		w := maps.Clone(good)
		row.change(w)
		d := details(h.verdict(qualityGate, w, nil))
		if reported, _ := d["critic"].(string); !strings.Contains(reported, row.reported) {
			t.Errorf("%s: %q", name, reported)
		}
		w["validation_certificate"] = copied(t, d["validation_certificate"])
		v, r := h.verdict(certificateGate, w, nil), h.call(saveTool, saving(w))
		if v.Valid != (row.code == "") || r.Failed == v.Valid || row.code != "" && !slices.Contains(codes(v), row.code) {
			t.Errorf("%s: %v; %s", name, codes(v), r.Text())
		}
	}
	if d := details(h.verdict(criticGate, approval, nil)); d["critic_certificate"] != nil {
		t.Error("a review of nothing is signed")
	}
	broken := week(54)
	itemOf(broken, 0)["price"] = "15"
	if w := h.reviewed(broken, approval); w["critic_certificate"] != nil {
		t.Error("a review of what cannot be read is signed")
	}
	// v2 has no critic, no variety and no anomalies.
	h.Policy = "v2"
	w := dear()
	refusedAs(t, h, h.certified(w), "")
}

// TestWhoseReview checks that a review inside the schedule does not replace the
// critic's review.
func TestWhoseReview(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	scores := func(aggressive float64, ending string) map[string]any {
		return map[string]any{"revenue_aggressiveness" + ending: aggressive, "subscriber_health": 90, "brand_consistency": 90}
	}
	saying := func(more map[string]any) map[string]any {
		w := week(54)
		maps.Copy(w, more)
		return w
	}
	for name, row := range map[string]struct {
		subject, with map[string]any
		decision      string
	}{
		"beside it":                    {map[string]any{"schedule": week(54), "review": scores(1, "")}, nil, "APPROVE"},
		"another in it":                {map[string]any{"schedule": saying(map[string]any{"critic": scores(1, "")}), "review": scores(99, "")}, nil, "BLOCK"},
		"a bad one in it":              {map[string]any{"schedule": saying(map[string]any{"critic": scores(99, "")}), "review": scores(1, "")}, nil, "APPROVE"},
		"its own scores":               {map[string]any{"schedule": saying(scores(1, "")), "review": scores(99, "")}, nil, "BLOCK"},
		"its own, and scores beside":   {map[string]any{"schedule": saying(scores(1, "")), "revenue_aggressiveness_score": 99, "subscriber_health": 90, "brand_consistency": 90}, nil, "BLOCK"},
		"scores beside":                {map[string]any{"schedule": saying(scores(99, "")), "revenue_aggressiveness_score": 1, "subscriber_health": 90, "brand_consistency": 90}, nil, "APPROVE"},
		"its own, and none":            {map[string]any{"schedule": saying(scores(1, "")), "review": nil}, nil, "BLOCK"},
		"its own, and a text":          {map[string]any{"schedule": saying(map[string]any{"review": scores(1, "")}), "review": "too aggressive: 99"}, nil, "BLOCK"},
		"its own, and parameters":      {map[string]any{"schedule": saying(scores(1, ""))}, scores(99, ""), "BLOCK"},
		"parameters":                   {map[string]any{"schedule": saying(scores(99, ""))}, scores(1, ""), "APPROVE"},
		"parameters before the review": {scores(99, "_score"), map[string]any{"revenue_aggressiveness": 1}, "APPROVE"},
		"a schedule with its review":   {saying(map[string]any{"critic_review": scores(1, "")}), nil, "APPROVE"},
		"a schedule with two":          {saying(map[string]any{"critic": scores(1, ""), "review": scores(99, "")}), nil, "BLOCK"},
		"a schedule with a text":       {saying(map[string]any{"critic": "BLOCK", "revenue_aggressiveness": 1, "subscriber_health": 90, "brand_consistency": 90}), nil, "BLOCK"},
		"a review with a text":         {map[string]any{"review": "balanced", "revenue_aggressiveness": 1, "subscriber_health": 90, "brand_consistency": 90}, nil, "APPROVE"},
		"one score twice, the same":    {map[string]any{"revenue_aggressiveness": 1, "revenue_aggressiveness_score": 1.0, "subscriber_health": 90, "brand_consistency": 90}, nil, "APPROVE"},
		"one score twice, as a text":   {map[string]any{"revenue_aggressiveness": 0, "revenue_aggressiveness_score": "99", "subscriber_health": 90, "brand_consistency": 90}, nil, "BLOCK"},
		"one score twice, as objects":  {map[string]any{"revenue_aggressiveness": map[string]any{}, "revenue_aggressiveness_score": map[string]any{}, "subscriber_health": 90, "brand_consistency": 90}, nil, "BLOCK"},
		"one score twice":              {map[string]any{"revenue_aggressiveness": 1, "revenue_aggressiveness_score": 99, "subscriber_health": 90, "brand_consistency": 90}, nil, "BLOCK"},
	} {
		v := h.verdict(criticGate, row.subject, row.with)
		if details(v)["critic_decision"] != row.decision {
			t.Errorf("a review, %s: %v: %s", name, details(v)["critic_decision"], v.Reason)
		}
	}
}

// TestUnusedCertificatesAge checks that a second, unused certificate of an old week
// cannot restore that week.
func TestUnusedCertificatesAge(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		old := saving(h.certified(priced(15, 30)))
		h.Clock = at(noon.Add(time.Second))
		spare := saving(h.certified(priced(15, 30)))
		h.Clock = at(noon.Add(2 * time.Second))
		newer := saving(h.certified(priced(16, 40)))
		for i, w := range []map[string]any{old, spare, newer} {
			if i == 1 {
				continue
			}
			if r := h.call(saveTool, w); r.Failed {
				t.Fatal(r.Text())
			}
		}
		if r := h.call(saveTool, spare); !r.Failed || !strings.Contains(r.Text(), "STALE_CERTIFICATE") || !strings.Contains(r.Text(), "issued later") {
			t.Errorf("%s", r.Text())
		}
		if r := h.call(saveTool, newer); r.Failed {
			t.Errorf("the same once more: %s", r.Text())
		}
		// An unsigned certificate makes nothing stale, not even in phase 1.
		if err := h.db().SetPhase(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		forged := copied(t, newer["validation_certificate"])
		forged["validation_timestamp"] = noon.Add(30 * time.Second).Format(time.RFC3339)
		w := maps.Clone(newer)
		w["validation_certificate"] = forged
		if r := h.call(saveTool, w); r.Failed || !strings.Contains(r.Text(), "BAD_SIGNATURE") {
			t.Fatal(r.Text())
		}
		h.Clock = at(noon.Add(3 * time.Second))
		if r := h.call(saveTool, saving(h.certified(priced(17, 40)))); r.Failed || strings.Contains(r.Text(), "STALE") {
			t.Error(r.Text())
		}
	})
}

// TestKeyRotation checks that the old and the new key can be trusted together, and then the new
// key alone. A call can trust fewer keys.
func TestKeyRotation(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	private, public, err := Keygen()
	if err != nil {
		t.Fatal(err)
	}
	both := string(testPublic) + string(public)
	old := h.certified(week(54))
	h.SigningKey = string(private)
	fresh := h.certified(week(40))
	for _, row := range []struct {
		database, given string
		old, fresh      bool
	}{
		{"", both, true, true}, {"", string(public), false, true}, {"", string(testPublic), true, false},
		{both, "", true, true}, {both, string(public), false, true}, {string(public), "", false, true},
	} {
		if row.database != "" {
			if err := h.db().SetVerifyKey(t.Context(), row.database); err != nil {
				t.Fatal(err)
			}
		}
		h.VerifyKey = row.given
		for w, good := range map[*map[string]any]bool{&old: row.old, &fresh: row.fresh} {
			v := h.verdict(certificateGate, *w, nil)
			if v.Valid != good || !good && !strings.Contains(v.Reason, "not trusted here: \"sha256:") {
				t.Errorf("%+v: %s", row, v.Reason)
			}
		}
	}
	h.VerifyKey = both
	if _, err := h.judge(certificateGate, old, nil); err == nil || !strings.Contains(err.Error(), "is set in the database") {
		t.Errorf("a key that the database does not trust: %v", err)
	}
}
