package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// ids returns the captions of a result.
func ids(t *testing.T, r tool.Result) []string {
	t.Helper()
	if r.Failed {
		t.Fatal(r.Text())
	}
	var list []string
	for _, c := range r.Value.(map[string]any)["captions"].([]any) {
		list = append(list, fmt.Sprint(c.(map[string]any)["caption_id"]))
	}
	return list
}

// addEve adds the creator eve and the captions. The vault contains cooking, fitness and music,
// but not travel. Fitness is AVOID, and music has no current ranking.
func addEve(h *house, captions ...string) {
	h.exec("DELETE FROM caption_bank")
	h.exec("DELETE FROM caption_creator_performance")
	h.exec("INSERT INTO creators (creator_id, page_name, page_type, is_active) VALUES ('eve', 'eves_page', 'free', 1)")
	h.exec("INSERT INTO vault_matrix (creator_id, content_type_id, has_content) VALUES ('eve', 1, 1), ('eve', 2, 0), ('eve', 3, 1), ('eve', 4, 1)")
	for _, row := range []string{"'2026-01-01', 'cooking', 'TOP'", "'2026-01-01', 'fitness', 'AVOID'", "'2025-12-01', 'cooking', 'AVOID'", "'2025-12-01', 'music', 'AVOID'", "'2026-01-01', 'Cooking', 'AVOID'"} {
		h.exec("INSERT INTO top_content_types (creator_id, analysis_date, content_type, performance_tier) VALUES ('eve', " + row + ")")
	}
	for _, c := range captions {
		h.exec("INSERT INTO caption_bank (caption_id, caption_text, caption_type, content_type_id, is_active) VALUES (" + c + ")")
	}
}

func TestLayer1(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		addEve(h,
			"1, 'cooking', 'ppv_unlock', 1, 1", "2, 'travel', 'ppv_unlock', 2, 1", "3, 'fitness', 'ppv_unlock', 3, 1", "4, 'music', 'ppv_unlock', 4, 1",
			"5, 'gardening', 'ppv_unlock', 5, 1", "6, 'not active', 'ppv_unlock', 1, 0", "7, 'no type', 'ppv_unlock', NULL, 1", "8, 'alias', 'ppv_video', 1, 1",
			"9, 'other', 'bump_normal', 1, 1", "10, 'unmarked', NULL, 1, 1", "11, 'capitals', 'PPV_UNLOCK', 1, 1",
		)
		for i, score := range []int{0, 10, 99, 99, 50, 99, 99, 99, 70, 70, 20, 5} {
			if i > 0 && i != 4 {
				h.exec("INSERT INTO caption_creator_performance (caption_id, creator_id, performance_score, last_used_date) VALUES ($1, 'eve', $2, '2025-12-31')", i, score)
				h.exec("INSERT INTO caption_creator_performance (caption_id, creator_id, performance_score) VALUES ($1, 'ada', $2)", i, 100-score)
			}
		}
		for _, row := range []struct {
			name      string
			arguments map[string]any
			want      string
		}{
			{topTool, map[string]any{}, "8 9 10 1 11 4"}, // by eve's scores, equal ones by id; 4 has no score
			{topTool, map[string]any{"limit": 2}, "8 9"},
			{typeTool, map[string]any{"send_type_key": "ppv_unlock"}, "8 1 4"},
			{typeTool, map[string]any{"send_type_key": "ppv_message", "limit": 1}, "8"},
			{typeTool, map[string]any{"send_type_key": "bump_normal"}, "9"},
			{typeTool, map[string]any{"send_type_key": "dm_farm"}, ""},
		} {
			row.arguments["creator_id"] = "eves_page"
			if got := strings.Join(ids(t, h.call(row.name, row.arguments)), " "); got != row.want {
				t.Errorf("%s %v: %q, want %q", row.name, row.arguments, got, row.want)
			}
		}
		first := h.call(topTool, map[string]any{"creator_id": "eve"}).Value.(map[string]any)["captions"].([]any)[0].(map[string]any)
		if first["days_since_last_use"] != 4 || first["performance_score"] != 70 && first["performance_score"] != 70.0 || first["content_type"] != "cooking" {
			t.Errorf("%v", first)
		}
		h.exec("UPDATE caption_creator_performance SET last_used_date = 'lately' WHERE caption_id = 8")
		if r := h.call(topTool, map[string]any{"creator_id": "eve"}); !r.Failed {
			t.Error("a date that cannot be read is not 'never used'")
		}
		h.exec("INSERT INTO top_content_types (creator_id, analysis_date, content_type, rank, performance_tier) VALUES ('eve', '2026-01-01', 'painting', 2, 'MID'), ('eve', '2026-01-01', 'Painting', 1, 'MID'), ('eve', '2026-01-01', 'music', 2, 'TOP'), ('eve', '2026-01-01', 'music', 2, 'LOW')")
		var order []string
		for _, r := range h.call(rankingsTool, map[string]any{"creator_id": "eve"}).Value.(map[string]any)["rankings"].([]any) {
			r := r.(map[string]any)
			order = append(order, fmt.Sprint(r["rank"], r["content_type"], r["performance_tier"]))
		}
		if got := strings.Join(order, " "); got != "1PaintingMID 2musicLOW 2musicTOP 2paintingMID <nil>CookingAVOID <nil>cookingTOP <nil>fitnessAVOID" {
			t.Errorf("what has no rank comes behind what has: %s", got)
		}
	})
}

func TestToolArguments(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	for _, row := range []struct {
		name, want string
		arguments  map[string]any
	}{
		{topTool, `no creator is called "nobody"`, map[string]any{"creator_id": "nobody"}},
		{topTool, "limit must be from 1 to 500", map[string]any{"creator_id": "ada", "limit": 501}},
		{topTool, "limit must be from 1 to 500", map[string]any{"creator_id": "ada", "limit": -1}},
		{typeTool, `no send type is called "ppv"`, map[string]any{"creator_id": "ada", "send_type_key": "ppv"}},
		{vaultTool, "not the name of a creator", map[string]any{"creator_id": "a\x00"}},
		{saveTool, "arguments: ", map[string]any{"creator_id": "ada", "week_start": demoWeek, "items": "none"}},
		{saveTool, "items[1]: no send type is called", map[string]any{"creator_id": "ada", "week_start": demoWeek, "items": []any{itemOf(week(1), 0), map[string]any{"send_type_key": "ppv_"}}}},
		{saveTool, "week_start: must be a date", map[string]any{"creator_id": "ada", "week_start": "Monday", "items": []any{itemOf(week(1), 0)}}},
	} {
		if r := h.call(row.name, row.arguments); !r.Failed || !strings.Contains(r.Text(), row.want) {
			t.Errorf("%s %v: %s", row.name, row.arguments, r.Text())
		}
	}
	vault := h.call(vaultTool, map[string]any{"creator_id": "ada"}).Value.(map[string]any)["available_content"].([]any)
	var names []string
	for _, v := range vault {
		names = append(names, v.(map[string]any)["type_name"].(string))
	}
	if !slices.Equal(names, []string{"baking", "cooking", "cycling", "fitness", "hiking", "music", "painting", "photography", "reading", "travel"}) {
		t.Errorf("%v", names)
	}
	ranks := h.call(rankingsTool, map[string]any{"creator_id": "ada"}).Value.(map[string]any)
	if fmt.Sprint(ranks["avoid_types"], ranks["top_types"], ranks["analysis_date"]) != "[hiking pottery] [cooking fitness travel]2026-01-02" {
		t.Errorf("%v", ranks)
	}
	h.exec("DELETE FROM top_content_types")
	ranks = h.call(rankingsTool, map[string]any{"creator_id": "ada"}).Value.(map[string]any)
	if fmt.Sprint(ranks["avoid_types"], ranks["analysis_date"]) != "[] <nil>" {
		t.Errorf("without rankings: %v", ranks)
	}
}

// TestRareSendType checks that a send type outside the creator's best captions is found
// by score.
func TestRareSendType(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		addEve(h, "20001, 'rare', 'dm_farm', 1, 1", "20002, 'rare', 'dm_farm', 4, 1", "20003, 'rare', 'dm_farm', 1, 1", "20004, 'avoid', 'dm_farm', 3, 1", "20005, 'no vault', 'dm_farm', 2, 1")
		const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
		h.exec("INSERT INTO caption_bank (caption_id, caption_text, caption_type, content_type_id, is_active) " + numbers + "SELECT i, 'common', 'bump_normal', 1, 1 FROM n")
		h.exec("INSERT INTO caption_creator_performance (caption_id, creator_id, performance_score) " + numbers + "SELECT i, 'eve', 90 FROM n")
		h.exec("INSERT INTO caption_creator_performance (caption_id, creator_id, performance_score) VALUES (20001, 'eve', 10), (20002, 'eve', 20), (20004, 'eve', 30), (20005, 'eve', 30)")
		if got := strings.Join(ids(t, h.call(typeTool, map[string]any{"creator_id": "eve", "send_type_key": "dm_farm"})), " "); got != "20002 20001 20003" {
			t.Errorf("got %s", got)
		}
		if got := ids(t, h.call(typeTool, map[string]any{"creator_id": "eve", "send_type_key": "dm_farm", "limit": 1})); !slices.Equal(got, []string{"20002"}) {
			t.Errorf("got %s", got)
		}
	})
}

// TestBuriedCaptions checks that allowed captions are found below any number of better
// captions that are not allowed.
func TestBuriedCaptions(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		addEve(h, "20001, 'low', 'dm_farm', 1, 1", "20002, 'less low', 'bump_normal', 4, 1", "20003, 'no score', 'dm_farm', 1, 1", "20004, 'not active', 'dm_farm', 1, 0")
		const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
		h.exec("INSERT INTO caption_bank (caption_id, caption_text, caption_type, content_type_id, is_active) " + numbers + "SELECT i, 'AVOID', 'bump_normal', 3, 1 FROM n")
		h.exec("INSERT INTO caption_creator_performance (caption_id, creator_id, performance_score) " + numbers + "SELECT i, 'eve', 90 FROM n")
		h.exec("INSERT INTO caption_creator_performance (caption_id, creator_id, performance_score) VALUES (20001, 'eve', 10), (20002, 'eve', 20), (20004, 'eve', 30)")
		top := func(limit int) string {
			return strings.Join(ids(t, h.call(topTool, map[string]any{"creator_id": "eve", "limit": limit})), " ")
		}
		if got := top(20); got != "20002 20001 20003" {
			t.Errorf("few: %s", got)
		}
		if got := top(1); got != "20002" {
			t.Errorf("the best of few: %s", got)
		}
		h.exec("INSERT INTO caption_bank (caption_id, caption_text, caption_type, content_type_id, is_active) " + strings.Replace(numbers, "5000", "6000", 1) + "SELECT 30000 + i, 'no score', 'bump_normal', 4, 1 FROM n")
		if got := top(4); got != "20002 20001 20003 30001" {
			t.Errorf("many: %s", got)
		}
	})
}
