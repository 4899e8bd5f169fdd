package schedule

import (
	"slices"
	"testing"
)

func TestPreflightRows(t *testing.T) {
	const keep = "DELETE FROM caption_bank WHERE caption_id NOT IN (SELECT c.caption_id FROM caption_bank c WHERE c.is_active = 1 AND c.content_type_id IN (1, 2) ORDER BY c.caption_id LIMIT "
	for _, row := range []struct {
		name, change, code, severity, status string
		refused                              bool
	}{
		{"ready", "UPDATE creators SET is_active = 1", "", "", statusReady, false},
		{"inactive", "UPDATE creators SET is_active = 0", "CREATOR_INACTIVE", "CRITICAL", statusBlocked, true},
		{"2 is not active", "UPDATE creators SET is_active = 2", "CREATOR_INACTIVE", "CRITICAL", statusBlocked, true},
		{"empty vault", "UPDATE vault_matrix SET has_content = 0", "NO_VAULT_DATA", "CRITICAL", statusBlocked, true},
		{"no vault", "DELETE FROM vault_matrix", "NO_VAULT_DATA", "CRITICAL", statusBlocked, true},
		{"49 captions", keep + "49)", "INSUFFICIENT_CAPTIONS", "CRITICAL", statusBlocked, true},
		{"50 captions", keep + "50)", "", "", statusReady, false},
		{"51 captions", keep + "51)", "", "", statusReady, false},
		{"captions that are not active", "UPDATE caption_bank SET is_active = 0", "INSUFFICIENT_CAPTIONS", "CRITICAL", statusBlocked, true},
		{"captions that are AVOID", "UPDATE top_content_types SET performance_tier = 'AVOID'; UPDATE vault_matrix SET has_content = 0 WHERE content_type_id = 10", "INSUFFICIENT_CAPTIONS", "CRITICAL", statusBlocked, true},
		{"no persona", "DELETE FROM creator_personas", "NO_PERSONA", "CRITICAL", statusBlocked, true},
		{"no messages", "DELETE FROM mass_messages", "LIMITED_ANALYTICS", "LOW", statusWarning, false},
		{"unknown", "UPDATE creators SET creator_id = 'x', page_name = 'y' WHERE creator_id = 'ada'", "CREATOR_NOT_FOUND", "CRITICAL", statusBlocked, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			onEachDatabase(t, func(t *testing.T, dsn string) {
				h := newHouse(t, dsn)
				h.exec(row.change)
				v := h.verdict(preflightGate, week(54), nil)
				if row.code != "" {
					expect{code: row.code, severity: row.severity, status: row.status, refused: row.refused}.check(t, v)
				}
				d := details(v)
				want := map[string]string{statusReady: "READY", statusBlocked: "BLOCKED", statusWarning: "WARN"}[row.status]
				if v.Status != row.status || d["preflight_status"] != want || d["checks_passed"].(int)+d["checks_failed"].(int) != 5 {
					t.Errorf("%s: %v", v.Status, d)
				}
				if (row.code == "") != (d["checks_passed"] == 5) {
					t.Errorf("%v checks passed", d["checks_passed"])
				}
			})
		})
	}
}

func TestPreflightFindsCreators(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for creator, status := range map[string]string{"ada": statusReady, "ada_kitchen": statusReady, "cleo_studio": statusReady, "Ada": statusBlocked, "nobody": statusBlocked, "' OR 1=1 --": statusBlocked, "a\x00da": statusBlocked} {
			if v := h.verdict(preflightGate, nil, map[string]any{"creator_id": creator}); v.Status != status {
				t.Errorf("%q: %s", creator, v.Status)
			}
		}
		for _, w := range []map[string]any{nil, {}, {"creator_id": 7}} {
			if v := h.verdict(preflightGate, w, nil); v.Status != statusBlocked || !slices.Contains(codes(v), "CREATOR_NOT_FOUND") {
				t.Errorf("%v: %s", w, v.Status)
			}
		}
		// An id takes precedence over a page name. Two pages with one name are an error.
		h.exec("UPDATE creators SET page_name = 'ada' WHERE creator_id IN ('ben', 'cleo')")
		if v := h.verdict(preflightGate, nil, map[string]any{"creator_id": "ada"}); v.Status != statusReady {
			t.Errorf("by id: %s", v.Reason)
		}
		h.exec("UPDATE creators SET page_name = 'twin' WHERE creator_id IN ('ben', 'cleo')")
		if v, err := h.judge(preflightGate, nil, map[string]any{"creator_id": "twin"}); err == nil {
			t.Errorf("two pages of one name: %+v", v)
		}
	})
}

// TestV2HasNoGatesOfV3 checks that the policy v2 skips the gates of v3.
func TestV2HasNoGatesOfV3(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	for _, gate := range []string{preflightGate, varietyGate, criticGate, anomalyGate} {
		v := h.verdict(gate, map[string]any{"creator_id": "nobody", "items": []any{}}, map[string]any{"policy": "v2"})
		if !v.Valid || v.Status != statusSkipped {
			t.Errorf("%s: %+v", gate, v)
		}
	}
}
