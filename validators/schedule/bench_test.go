package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// scene contains everything that the gates need to judge a schedule without I/O.
type scene struct {
	w        map[string]any
	standing preflightData
	back     creatorRecord
	policy   *gatePolicy
	sign     *signatures.Key
	keeper   gatekeeper
}

func newScene(tb testing.TB, n int) scene {
	tb.Helper()
	h := newHouse(tb, sqliteDSN(tb))
	s := scene{w: h.certified(week(n)), policy: mustPolicy(tb, "")}
	s.w["critic"] = map[string]any{"strategic_score": 78, "revenue_aggressiveness": 65, "subscriber_health": 72, "brand_consistency": 85}
	var err error
	if s.standing, err = h.db().preflightData(context.Background(), "ada", s.policy); err != nil {
		tb.Fatal(err)
	}
	if s.back, err = h.db().creatorRecord(context.Background(), &plan{creator: "ada", week: noDay}, noon, s.policy); err != nil {
		tb.Fatal(err)
	}
	if s.sign, err = newSigner(string(testPrivate)); err != nil {
		tb.Fatal(err)
	}
	keys, err := trustedKeys(string(testPublic))
	if err != nil {
		tb.Fatal(err)
	}
	s.keeper = gatekeeper{s.policy, keys, 2, noon}
	return s
}

// gates runs all seven gates on one schedule.
func (s scene) gates() map[string]validators.Verdict {
	f, p := s.back.facts, s.policy
	layer2 := newReport(p)
	critic, _ := p.critic(s.w, nil)
	return map[string]validators.Verdict{
		preflightGate:   p.preflight("ada", s.standing),
		varietyGate:     s.variety(),
		selectionGate:   layer2.selectionVerdict(layer2.read(s.w, 0), f, nil, noon),
		criticGate:      critic,
		qualityGate:     s.quality(),
		certificateGate: s.certificate(),
		anomalyGate:     s.anomaly(),
	}
}

func (s scene) variety() validators.Verdict {
	r := newReport(s.policy)
	return r.variety(r.read(s.w, needSendTypes))
}

func (s scene) quality() validators.Verdict {
	r := newReport(s.policy)
	return r.quality(r.read(s.w, needSendTypes|needTimes), s.back, qualityContext{sign: s.sign, trusted: s.sign.Public(), now: noon})
}

func (s scene) certificate() validators.Verdict {
	r := s.keeper.report()
	return s.keeper.verdict(r, r.read(s.w, 0), s.back)
}

func (s scene) anomaly() validators.Verdict {
	r := newReport(s.policy)
	return r.anomaly(r.read(s.w, needTimes), s.back)
}

// TestScene checks that the schedule of the benchmarks passes.
func TestScene(t *testing.T) {
	for gate, v := range newScene(t, 54).gates() {
		if !v.Valid {
			t.Errorf("%s: %s", gate, v.Reason)
		}
	}
}

func BenchmarkGates(b *testing.B) {
	for _, n := range []int{54, 100_000} {
		s := newScene(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s.gates()
			}
		})
	}
}

// BenchmarkEachGate measures every gate on 100,000 items.
func BenchmarkEachGate(b *testing.B) {
	s := newScene(b, 100_000)
	f, p := s.back.facts, s.policy
	for name, run := range map[string]func(){
		"variety":     func() { s.variety() },
		"selection":   func() { r := newReport(p); r.selectionVerdict(r.read(s.w, 0), f, nil, noon) },
		"quality":     func() { s.quality() },
		"certificate": func() { s.certificate() },
		"anomaly":     func() { s.anomaly() },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
		})
	}
}

// BenchmarkQualityOfBrokenItems has two violations in each item.
func BenchmarkQualityOfBrokenItems(b *testing.B) {
	s := newScene(b, 100_000)
	for i := range items(s.w) {
		itemOf(s.w, i)["content_type"] = "pottery"
	}
	for b.Loop() {
		s.quality()
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := json.Marshal(week(100_000))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := schema.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSave(b *testing.B) {
	for name, dsn := range map[string]func(testing.TB) string{"sqlite": sqliteDSN, "postgres": postgresDSN} {
		b.Run(name, func(b *testing.B) {
			h := newHouse(b, dsn(b))
			w := saving(h.certified(week(54)))
			save, err := tool.NewSet(Tools(h.Options)...).Find(saveTool)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for b.Loop() {
				if r, err := save.Run(context.Background(), tool.Call{Arguments: w}); err != nil || r.Failed {
					b.Fatal(r.Text(), err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "saves/s")
		})
	}
}

// million inserts a million captions. The first ones, as many as scored, have scores for ada.
func million(b *testing.B, h *house, scored int) {
	b.Helper()
	h.exec("DELETE FROM caption_creator_performance")
	h.exec("DELETE FROM caption_bank")
	var kinds strings.Builder
	for i, s := range everySendType() {
		kinds.WriteString(fmt.Sprintf(" WHEN %d THEN '%s'", i, s.Key))
	}
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
	h.exec(fmt.Sprintf("INSERT INTO caption_bank (caption_id, caption_text, caption_type, content_type_id, is_active, performance_tier) "+numbers+
		"SELECT i, 'A caption of some length about something, number ' || i, CASE i %% 22"+kinds.String()+" END, 1 + i %% 12, 1, 'MID' FROM n", 1_000_000))
	if scored > 0 {
		h.exec(fmt.Sprintf("INSERT INTO caption_creator_performance (caption_id, creator_id, last_used_date, performance_score) "+numbers+
			"SELECT i, 'ada', '2025-11-01', (i %% 1000 * 7919) %% 1000 / 10.0 FROM n", scored))
	}
	h.exec("UPDATE caption_bank SET caption_type = 'none' WHERE caption_type = 'ppv_wall' OR caption_type = 'dm_farm' AND caption_id > 1000")
	if h.db().postgres {
		h.exec("ANALYZE")
	}
}

func BenchmarkLayer1(b *testing.B) {
	for name, dsn := range map[string]func(testing.TB) string{"sqlite": sqliteDSN, "postgres": postgresDSN} {
		for _, scored := range []int{0, 200_000, 1_000_000} {
			h := newHouse(b, dsn(b))
			million(b, h, scored)
			for _, call := range []struct {
				name, tool string
				arguments  map[string]any
			}{
				{"top", topTool, map[string]any{"creator_id": "ada"}},
				{"top of a type", typeTool, map[string]any{"creator_id": "ada", "send_type_key": "ppv_unlock"}},
				{"top of a rare type", typeTool, map[string]any{"creator_id": "ada", "send_type_key": "dm_farm"}},
				{"top of no caption", typeTool, map[string]any{"creator_id": "ada", "send_type_key": "ppv_wall"}},
			} {
				b.Run(fmt.Sprintf("%s/%d scored/%s", name, scored, call.name), func(b *testing.B) {
					for b.Loop() {
						if r := h.call(call.tool, call.arguments); r.Failed {
							b.Fatal(r.Text())
						}
					}
				})
			}
			b.Run(fmt.Sprintf("%s/%d scored/preflight", name, scored), func(b *testing.B) {
				for b.Loop() {
					h.verdict(preflightGate, nil, map[string]any{"creator_id": "ada"})
				}
			})
		}
	}
}

// TestSpeed fails if a gate takes many times its usual processor time, for example
// because of a quadratic loop.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("times things")
	}
	s := newScene(t, 25_000)
	begun := processor.Time()
	s.gates()
	if took := processor.Time() - begun; took > 4*time.Second {
		t.Errorf("25,000 items took %v", took)
	}
}

// BenchmarkLayer1Buried is the worst case: a million captions have scores. The best
// eleven twelfths have content types that are not allowed.
func BenchmarkLayer1Buried(b *testing.B) {
	for name, dsn := range map[string]func(testing.TB) string{"sqlite": sqliteDSN, "postgres": postgresDSN} {
		h := newHouse(b, dsn(b))
		million(b, h, 1_000_000)
		h.exec("UPDATE vault_matrix SET has_content = 0 WHERE content_type_id <> 1")
		h.exec("UPDATE caption_creator_performance SET performance_score = -1 WHERE caption_id % 12 = 0")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := h.call(topTool, map[string]any{"creator_id": "ada"}); r.Failed {
					b.Fatal(r.Text())
				}
			}
		})
	}
}
