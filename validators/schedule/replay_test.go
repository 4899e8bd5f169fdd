package schedule

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/tool"
)

// TestReplayedCertificate checks that a used certificate, even a recent one, cannot restore an
// old week.
func TestReplayedCertificate(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		first, second := saving(h.certified(priced(15, 30))), saving(h.certified(priced(16, 40)))
		for i, w := range []map[string]any{first, first, second, second} {
			if r := h.call(saveTool, w); r.Failed || r.Value.(map[string]any)["revision"] != i+1 {
				t.Fatalf("save %d: %s", i, r.Text())
			}
		}
		before := h.stored("ada", demoWeek)
		r := h.call(saveTool, first)
		if !r.Failed || !strings.Contains(r.Text(), "STALE_CERTIFICATE") || !strings.Contains(r.Text(), "was used before") {
			t.Errorf("replayed: %s", r.Text())
		}
		if after := h.stored("ada", demoWeek); after.hash != before.hash || after.revision != before.revision {
			t.Errorf("the week became %+v", after)
		}
		// A second certification of the same week is a different certificate.
		h.Clock = at(noon.Add(time.Second))
		if r := h.call(saveTool, saving(h.certified(priced(15, 30)))); r.Failed {
			t.Errorf("certified anew: %s", r.Text())
		}
	})
}

// TestReplayInPhase1 checks that a replay in phase 1 is a warning.
func TestReplayInPhase1(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	if err := h.db().SetPhase(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	first, bare := saving(h.certified(week(30))), saving(week(40))
	for _, w := range []map[string]any{first, bare} {
		if r := h.call(saveTool, w); r.Failed {
			t.Fatal(r.Text())
		}
	}
	r := h.call(saveTool, first)
	if r.Failed {
		t.Fatal(r.Text())
	}
	got := r.Value.(map[string]any)
	if list := got["warnings"].([]any); got["status"] != statusWarning || len(list) != 1 || list[0].(map[string]any)["check"] != "STALE_CERTIFICATE" {
		t.Errorf("%s", r.Text())
	}
}

// TestConcurrentReplays saves many times, alternately with two certificates. The saved schedule
// must change only once.
func TestConcurrentReplays(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		weeks := []map[string]any{saving(h.certified(priced(15, 30))), saving(h.certified(priced(16, 40)))}
		results := make([]tool.Result, 20)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() { results[i] = h.call(saveTool, weeks[i%2]) })
		}
		all.Wait()
		of := make([]map[int]bool, 2) // the revisions saved by each certificate
		for i := range of {
			of[i] = map[int]bool{}
		}
		for i, r := range results {
			if !r.Failed {
				of[i%2][r.Value.(map[string]any)["revision"].(int)] = true
			} else if !strings.Contains(r.Text(), "STALE_CERTIFICATE") {
				t.Errorf("save %d: %s", i, r.Text())
			}
		}
		turns := 0
		for revision := 2; revision <= len(of[0])+len(of[1]); revision++ {
			if of[0][revision] != of[0][revision-1] {
				turns++
			}
		}
		if turns != 1 {
			t.Errorf("%d turns: %v", turns, of)
		}
	})
}

// TestUsedCertificatesAreForgotten checks that old certificates are deleted when their age alone
// rejects them.
func TestUsedCertificatesAreForgotten(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	for i := range 5 {
		h.Clock = at(noon.Add(time.Duration(i) * time.Hour))
		if r := h.call(saveTool, saving(h.certified(priced(15, 30)))); r.Failed {
			t.Fatal(r.Text())
		}
	}
	var n int
	err := h.db().reading(context.Background(), func(t tx) error {
		_, err := t.one("SELECT COUNT(*) FROM schedule_certificates", nil, &n)
		return err
	})
	if err != nil || n != 1 {
		t.Errorf("%d certificates are remembered, %v", n, err)
	}
}

// TestVersions checks that only Init migrates tables of an older Capstan. Tables of a newer
// Capstan must not change.
func TestVersions(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		if r := h.call(saveTool, saving(h.certified(week(54)))); r.Failed {
			t.Fatal(r.Text())
		}
		was := h.stored("ada", demoWeek)
		h.exec("DROP TABLE schedule_certificates")
		h.exec("DELETE FROM schedule_migrations WHERE version >= 2")
		h.exec("DELETE FROM schedule_settings WHERE name = 'database_id'")
		if db, err := Open(dsn); err == nil || !strings.Contains(err.Error(), "version 1: run schedule init, which only updates them to version 3") {
			t.Errorf("%v, %v", db, err)
		}
		if err := Init(t.Context(), dsn, false); err != nil {
			t.Fatal(err)
		}
		if s, err := h.db().Settings(t.Context()); err != nil || len(s.ID) != 32 {
			t.Errorf("%+v, %v", s, err)
		}
		if after := h.stored("ada", demoWeek); fmt.Sprint(after) != fmt.Sprint(was) {
			t.Errorf("the week became %+v", after)
		}
		if r := h.call(saveTool, saving(h.certified(week(54)))); r.Failed {
			t.Error(r.Text())
		}
		h.exec("INSERT INTO schedule_migrations (version) VALUES (99)")
		if db, err := Open(dsn); err == nil || !strings.Contains(err.Error(), "version 99, made by a newer Capstan") {
			t.Errorf("%v, %v", db, err)
		}
		if err := Init(t.Context(), dsn, false); err == nil || !strings.Contains(err.Error(), "version 99, made by a newer Capstan") {
			t.Error(err)
		}
	})
}

// TestInitAtOnce checks that several processes can create one database concurrently.
func TestInitAtOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, table := range []string{"creators", "content_types", "vault_matrix", "top_content_types", "caption_bank", "caption_creator_performance", "creator_personas", "mass_messages"} {
			h.exec("DELETE FROM " + table)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := Init(t.Context(), dsn, true); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if v := h.verdict(preflightGate, map[string]any{"creator_id": "ada"}, nil); v.Status != statusReady {
			t.Error(v.Reason)
		}
	})
}
