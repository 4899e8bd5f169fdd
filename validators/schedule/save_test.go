package schedule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/tooltest"
)

// stored is a saved week in the database.
type stored struct {
	revision, items int
	hash            string
	rows            []string // the items
}

func (h *house) stored(creator, week string) (s stored) {
	h.t.Helper()
	err := h.db().reading(context.Background(), func(t tx) error {
		if _, err := t.one("SELECT revision, items, schedule_hash FROM schedule_templates WHERE creator_id = $1 AND week_start = $2", []any{creator, week}, &s.revision, &s.items, &s.hash); err != nil {
			return err
		}
		return t.rows("SELECT item FROM schedule_items WHERE creator_id = $1 AND week_start = $2 ORDER BY position", []any{creator, week}, func(scan func(...any) error) error {
			var text string
			err := scan(&text)
			s.rows = append(s.rows, text)
			return err
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// check checks that the week is complete: the hash of its rows must be the saved hash.
func (s stored) check(t *testing.T) {
	t.Helper()
	list := make([]any, len(s.rows))
	for i, row := range s.rows {
		var err error
		if list[i], err = schema.Parse([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	plan := newReport(mustPolicy(t, "")).read(map[string]any{"items": list}, 0)
	if len(s.rows) != s.items || itemsHash(plan.items) != s.hash {
		t.Errorf("%d rows of %d items do not have the saved hash", len(s.rows), s.items)
	}
}

func priced(price float64, n int) map[string]any {
	w := week(n)
	for i := range items(w) {
		itemOf(w, i)["price"] = price
	}
	return w
}

func TestSaveReplacesTheWeek(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		r := h.call(saveTool, saving(w))
		if got := r.Value.(map[string]any); r.Failed || got["saved"] != true || got["items_saved"] != 54 || got["revision"] != 1 || got["status"] != statusApproved || got["gatekeeper_phase"] != 2 {
			t.Fatalf("%s", r.Text())
		}
		shorter := h.certified(priced(17, 40))
		shorter["creator_id"] = "ada_kitchen" // the page name of the same creator
		shorter = h.certified(shorter)
		if r := h.call(saveTool, saving(shorter)); r.Failed || r.Value.(map[string]any)["revision"] != 2 || r.Value.(map[string]any)["creator_id"] != "ada" {
			t.Fatal(r.Text())
		}
		s := h.stored("ada", demoWeek)
		s.check(t)
		if s.items != 40 || s.revision != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestPhases(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		bare := saving(week(54))
		if own, err := h.db().Settings(t.Context()); own.Phase != 2 || own.VerifyKey != "" || err != nil {
			t.Errorf("a new database has %+v, %v", own, err)
		}
		if r := h.call(saveTool, bare); !r.Failed || !strings.Contains(r.Text(), "CERTIFICATE_MISSING") {
			t.Errorf("phase 2: %s", r.Text())
		}
		asked := maps.Clone(bare)
		asked["phase"] = 1
		if r := h.call(saveTool, asked); !r.Failed {
			t.Error("a caller can weaken the gatekeeper")
		}
		if err := h.db().SetPhase(t.Context(), 3); err == nil {
			t.Error("there is no phase 3")
		}
		if err := h.db().SetPhase(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		r := h.call(saveTool, bare)
		got := r.Value.(map[string]any)
		if r.Failed || got["status"] != statusWarning || got["gatekeeper_phase"] != 1 || got["warnings"].([]any)[0].(map[string]any)["check"] != "CERTIFICATE_MISSING" {
			t.Errorf("phase 1: %s", r.Text())
		}
		h.stored("ada", demoWeek).check(t)
		asked["phase"] = 2
		if r := h.call(saveTool, asked); !r.Failed {
			t.Error("a caller can ask for more")
		}
		// An invalid schedule, here an empty week, is rejected in phase 1 too.
		empty := maps.Clone(bare)
		empty["items"] = []any{}
		if r := h.call(saveTool, empty); !r.Failed || !strings.Contains(r.Text(), "INVALID_INPUT") {
			t.Errorf("an empty week: %s", r.Text())
		}
		late := maps.Clone(bare)
		late["week_start"] = "2026-01-04"
		if r := h.call(saveTool, late); !r.Failed || !strings.Contains(r.Text(), "OUTSIDE_WEEK items[53]") {
			t.Errorf("another week: %s", r.Text())
		}
		for week, reason := range map[any]string{7: "must be a text, not 7", nil: "is missing", "": "is missing", "soon": `must be a date like 2025-12-22, not "soon"`} {
			wrong := maps.Clone(bare)
			wrong["week_start"] = week
			if _, err := Save(t.Context(), h.Options, wrong); err == nil || err.Error() != "schedule not saved: INVALID_INPUT week_start: "+reason {
				t.Errorf("week %v: %v", week, err)
			}
		}
		nobody := maps.Clone(bare)
		nobody["creator_id"] = "nobody"
		if r := h.call(saveTool, nobody); !r.Failed || !strings.Contains(r.Text(), "CREATOR_NOT_FOUND") {
			t.Errorf("no creator: %s", r.Text())
		}
	})
}

func TestWeekBoundaries(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for date, inside := range map[string]bool{"2026-01-04": false, "2026-01-05": true, "2026-01-11": true, "2026-01-12": false} {
			for _, hour := range []string{"00:00", "23:59:59", "23:30-05:00"} {
				w := week(54)
				itemOf(w, 6)["scheduled_date"], itemOf(w, 6)["scheduled_time"] = date, hour
				w = h.certified(w)
				v, r := h.verdict(qualityGate, w, nil), h.call(saveTool, saving(w))
				if v.Valid != inside || r.Failed == inside {
					t.Errorf("%s %s: %s; %s", date, hour, v.Reason, r.Text())
				}
				if !inside {
					expect{code: "OUTSIDE_WEEK", severity: "HIGH", status: statusRejected, returnTo: "schedule-assembler", at: "items[6]", refused: true}.check(t, v)
				}
			}
		}
		w := week(54)
		w["week_start"] = "2026-01-06"
		w = h.certified(w)
		if v := h.verdict(qualityGate, w, nil); v.Valid {
			t.Error("a week begins where it says")
		}
	})
}

func TestTextsAreData(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		hostile := []string{"'; DROP TABLE schedule_items; --", `"quoted" \ back`, "nul \x00 inside", "emoji 🥐 é", "$1 ? :x @y %s", "line\nend\ttab", strings.Repeat("long ", 20000)}
		w := week(54)
		for i, text := range hostile {
			itemOf(w, i)["caption_text"] = text
			itemOf(w, i)["extra"] = map[string]any{"deep": []any{text, nil, true, 1.5}}
		}
		w = h.certified(w)
		if r := h.call(saveTool, saving(w)); r.Failed {
			t.Fatal(r.Text())
		}
		s := h.stored("ada", demoWeek)
		s.check(t)
		for i, text := range hostile {
			v, err := schema.Parse([]byte(s.rows[i]))
			if err != nil || v.(map[string]any)["caption_text"] != text {
				t.Errorf("%q came back as %v, %v", text, v, err)
			}
		}
	})
}

// TestCaptionsNamedByTexts checks that a value the database cannot store is a finding,
// not a failure.
func TestCaptionsNamedByTexts(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for id, everywhere := range map[string]bool{"17": true, "9223372036854775807": true, "cap-17": false, "17.5": false, "9223372036854775808": false, "１７": false} {
			w := week(54)
			itemOf(w, 6)["caption_id"] = id
			w = h.certified(w)
			good := everywhere || !isPostgres(dsn)
			quality, keeper, r := h.verdict(qualityGate, w, nil), h.verdict(certificateGate, w, nil), h.call(saveTool, saving(w))
			if quality.Valid != good || keeper.Valid != good || r.Failed == good {
				t.Errorf("%s: %s; %s; %s", id, quality.Reason, keeper.Reason, r.Text())
			}
			if !good {
				expect{code: "INVALID_INPUT", severity: "CRITICAL", status: statusRejected, returnTo: "schedule-assembler", at: "items[6]", refused: true}.check(t, quality)
				if !strings.Contains(r.Text(), "INVALID_INPUT items[6]: caption_id must be a whole number") {
					t.Errorf("%s: %s", id, r.Text())
				}
			}
		}
	})
}

func TestConcurrentSavesSerialise(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		const savers = 50
		h := newHouse(t, dsn)
		weeks := make([]map[string]any, savers)
		for i := range weeks {
			weeks[i] = saving(h.certified(priced(15+float64(i)/10, 30+i)))
		}
		// Half of the saves use a second handle, like another process.
		second := *h
		second.Databases = &Databases{}
		t.Cleanup(func() { second.Databases.Close() })
		sets := []tool.Set{tool.NewSet(Tools(h.Options)...), tool.NewSet(Tools(second.Options)...)}
		results := make([]tool.Result, savers)
		var all sync.WaitGroup
		for i := range savers {
			all.Go(func() {
				save, err := sets[i%2].Find(saveTool)
				if err == nil {
					results[i], err = save.Run(context.Background(), tool.Call{Arguments: weeks[i]})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		seen := map[any]bool{}
		for i, r := range results {
			if r.Failed {
				t.Fatalf("save %d: %s", i, r.Text())
			}
			seen[r.Value.(map[string]any)["revision"]] = true
		}
		s := h.stored("ada", demoWeek)
		s.check(t)
		if s.revision != savers || len(seen) != savers {
			t.Errorf("%d saves made revision %d; %d differ", savers, s.revision, len(seen))
		}
	})
}

// TestFaultsFailClosed fails each database statement in turn, and the commit. Nothing passes, and
// no save is partial.
func TestFaultsFailClosed(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(130)) // three statements of items
		if r := h.call(saveTool, saving(w)); r.Failed {
			t.Fatal(r.Text())
		}
		before := h.stored("ada", demoWeek)
		changed := h.certified(priced(17, 100))
		bad := week(54)
		itemOf(bad, 0)["content_type"] = nil // layer 2 then searches for captions
		calls := map[string]func() (passed bool, failed error){
			saveTool: func() (bool, error) {
				return resultOf(h.call(saveTool, saving(changed)))
			},
		}
		for _, gate := range []string{preflightGate, selectionGate, qualityGate, certificateGate, anomalyGate} {
			calls[gate] = func() (bool, error) {
				v, err := h.judge(gate, w, nil)
				return v.Valid, err
			}
		}
		calls["selection of a bad week"] = func() (bool, error) {
			v, err := h.judge(selectionGate, bad, nil)
			return v.Valid, err
		}
		for name, arguments := range map[string]map[string]any{vaultTool: {}, rankingsTool: {}, topTool: {"limit": 500}, typeTool: {"send_type_key": "ppv_unlock", "limit": 500}} {
			calls[name] = func() (bool, error) {
				arguments["creator_id"] = "ada"
				return resultOf(h.call(name, arguments))
			}
		}
		for name, call := range calls {
			t.Run(name, func(t *testing.T) { failEach(t, h, call) })
		}
		if after := h.stored("ada", demoWeek); after.hash == before.hash || after.revision != 2 {
			t.Errorf("the last save, without a fault, is not there: %+v", after)
		}
	})
}

func resultOf(r tool.Result) (bool, error) {
	if r.Failed {
		return false, errors.New(r.Text())
	}
	return true, nil
}

// failEach makes each statement of a call fail in turn.
func failEach(t *testing.T, h *house, call func() (bool, error)) {
	t.Helper()
	before := h.stored("ada", demoWeek)
	defer func() { h.db().before = nil }()
	for k := 1; ; k++ {
		n := 0
		h.db().before = func(string) error {
			if n++; n == k {
				return errors.New("the disk is on fire")
			}
			return nil
		}
		passed, err := call()
		h.db().before = nil
		if n < k {
			if err != nil || k < 3 {
				t.Errorf("without a fault, after %d statements: %v", n, err)
			}
			return
		}
		if passed || err == nil || !strings.Contains(err.Error(), "the disk is on fire") {
			t.Errorf("statement %d failed: got %v, %v", k, passed, err)
		}
		if after := h.stored("ada", demoWeek); after.revision != before.revision || after.hash != before.hash || len(after.rows) != len(before.rows) {
			t.Errorf("statement %d failed, and the week is %d, not %d", k, after.revision, before.revision)
		}
	}
}

func TestDatabaseErrors(t *testing.T) {
	h := newHouse(t, t.TempDir()+"/none.db")
	for _, gate := range []string{preflightGate, selectionGate, qualityGate, certificateGate, anomalyGate} {
		if v, err := h.judge(gate, week(54), nil); err == nil {
			t.Errorf("%s without a database: %+v", gate, v)
		}
	}
	for _, dsn := range []string{"", ":memory:", t.TempDir(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1", "host=127.0.0.1 port=1 dbname=secret"} {
		if db, err := Open(dsn); err == nil {
			t.Errorf("%q opened: %v", dsn, db)
		}
	}
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		for _, table := range []string{"schedule_settings", "schedule_items", "top_content_types", "vault_matrix"} {
			h.exec("ALTER TABLE " + table + " RENAME TO gone")
			if r := h.call(saveTool, saving(w)); !r.Failed {
				t.Errorf("saved without %s", table)
			}
			h.exec("ALTER TABLE gone RENAME TO " + table)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.db().reading(ctx, func(t tx) error { _, err := t.facts("ada"); return err }); err == nil {
			t.Error("a cancelled context reads")
		}
		h.Databases.Close()
		if _, err := h.judge(qualityGate, w, nil); err == nil {
			t.Error("closed databases judge")
		}
	})
}

func TestToolsKeepTheContract(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		good := map[string]map[string]any{
			vaultTool: {"creator_id": "ada"}, rankingsTool: {"creator_id": "ada"}, topTool: {"creator_id": "ada", "limit": 3},
			typeTool: {"creator_id": "ada", "send_type_key": "ppv_video"}, saveTool: saving(h.certified(week(54))),
		}
		for _, tl := range Tools(h.Options) {
			t.Run(tl.Name, func(t *testing.T) { tooltest.Run(t, tl, good[tl.Name]) })
		}
	})
}

// TestOperatorsWordIsLast checks that an argument cannot replace a setting of the
// operator.
func TestOperatorsWordIsLast(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	_, public, err := Keygen()
	if err != nil {
		t.Fatal(err)
	}
	w := saving(h.certified(week(54)))
	w["verification_key"] = string(public)
	if r := h.call(saveTool, w); !r.Failed || !strings.Contains(r.Text(), "set by the operator") {
		t.Errorf("another key: %s", r.Text())
	}
	if r := h.call(vaultTool, map[string]any{"creator_id": "ada", "db": sqliteDSN(t)}); !r.Failed || !strings.Contains(r.Text(), "set by the operator") {
		t.Errorf("another database: %s", r.Text())
	}
	delete(w, "verification_key")
	w["db"], h.DSN = h.DSN, ""
	if r := h.call(saveTool, w); r.Failed {
		t.Errorf("what the operator left open: %s", r.Text())
	}
}

func TestSavedTimesAreUTC(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := saving(h.certified(week(54)))
	h.Clock = at(noon.In(time.FixedZone("east", 5*3600)))
	r := h.call(saveTool, w)
	if got := fmt.Sprint(r.Value.(map[string]any)["saved_at"]); got != "2026-01-04T12:00:00Z" {
		t.Errorf("saved at %s", got)
	}
}

func TestWholeSchedules(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(week(54))
	certificate := w["validation_certificate"]
	delete(w, "validation_certificate")
	if v := h.verdict(certificateGate, map[string]any{"schedule": w, "validation_certificate": certificate}, nil); !v.Valid {
		t.Errorf("a certificate beside the schedule: %s", v.Reason)
	}
	if r := h.call(saveTool, map[string]any{"schedule": w, "validation_certificate": certificate}); r.Failed {
		t.Error(r.Text())
	}
	// Members beside the schedule count.
	if r := h.call(saveTool, map[string]any{"schedule": w, "creator_id": "cleo", "validation_certificate": certificate}); !r.Failed || !strings.Contains(r.Text(), "CREATOR_MISMATCH") {
		t.Error(r.Text())
	}
	for _, arguments := range []map[string]any{{"schedule": nil}, {"schedule": map[string]any{}}, {"schedule": []any{}}, {"creator_id": "ada"}} {
		if r := h.call(saveTool, arguments); !r.Failed {
			t.Errorf("%v: %s", arguments, r.Text())
		}
	}
}

func TestSaveFromGo(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(week(54))
	if s, err := Save(t.Context(), h.Options, w); err != nil || s.Items != 54 || s.Revision != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	delete(w, "validation_certificate")
	_, err := Save(t.Context(), h.Options, w)
	var no *Refusal
	if !errors.As(err, &no) || no.Status != statusRejected || no.ReturnTo != "quality-validator" || no.Issues[0].Check != "CERTIFICATE_MISSING" {
		t.Errorf("%v", err)
	}
}
