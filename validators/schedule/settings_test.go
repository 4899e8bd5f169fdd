package schedule

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// asModel calls save_schedule like a model does: with an id.
func (h *house) asModel(arguments map[string]any) tool.Result {
	h.t.Helper()
	save, err := tool.NewSet(Tools(h.Options)...).Find(saveTool)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := save.Run(context.Background(), tool.Call{ID: "call_1", Name: saveTool, Arguments: arguments})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// TestAModelCannotForge checks that the arguments of a model cannot set the key that verifies its
// certificate.
func TestAModelCannotForge(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		private, public, err := Keygen()
		if err != nil {
			t.Fatal(err)
		}
		forger := *h
		forger.SigningKey = string(private)
		forged := saving(forger.certified(week(54)))
		good := saving(h.certified(week(54)))

		operator := h.VerifyKey
		h.VerifyKey = "" // no key of the operator
		if r := h.asModel(forged); !r.Failed || !strings.Contains(r.Text(), "BAD_SIGNATURE") {
			t.Errorf("without any key: %s", r.Text())
		}
		forged["verification_key"] = string(public)
		if r := h.asModel(forged); !r.Failed || !strings.Contains(r.Text(), "not a model's to choose") {
			t.Errorf("with the forger's key: %s", r.Text())
		}
		given := saving(h.certified(week(54)))
		given["validation_certificate"], given["verification_key"] = good["validation_certificate"], operator
		if r := h.call(saveTool, given); r.Failed {
			t.Errorf("a tool: phase gives the key: %s", r.Text())
		}

		if err := h.db().SetVerifyKey(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		if r := h.call(saveTool, forged); !r.Failed || !strings.Contains(r.Text(), "is set in the database") {
			t.Errorf("another key than the database's: %s", r.Text())
		}
		delete(forged, "verification_key")
		if r := h.asModel(forged); !r.Failed || !strings.Contains(r.Text(), "BAD_SIGNATURE") {
			t.Errorf("by the database's key: %s", r.Text())
		}
		if r := h.asModel(good); r.Failed {
			t.Errorf("a good certificate by the database's key: %s", r.Text())
		}
		w := h.certified(week(54))
		if v := h.verdict(certificateGate, w, nil); !v.Valid {
			t.Errorf("the gate by the database's key: %s", v.Reason)
		}
		if _, err := h.judge(certificateGate, w, map[string]any{"verification_key": string(public)}); err == nil {
			t.Error("the gate takes another key")
		}
		h.exec("UPDATE schedule_settings SET value = 'AAAA' WHERE name = 'verification_key'")
		if r := h.asModel(good); !r.Failed {
			t.Error("a key that cannot be read verifies")
		}
	})
}

func TestSettings(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, wrong := range []string{"", "/no/such/file.pem", string(testPrivate), "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
			if err := h.db().SetVerifyKey(t.Context(), wrong); err == nil {
				t.Errorf("%.20q is a key", wrong)
			}
		}
		if err := h.db().SetVerifyKey(t.Context(), string(testPublic)); err != nil {
			t.Fatal(err)
		}
		if err := h.db().SetPhase(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		s, err := h.db().Settings(t.Context())
		if err != nil || s.Phase != 1 || s.VerifyKey == "" || !strings.Contains(string(testPublic), s.VerifyKey) {
			t.Errorf("%+v, %v", s, err)
		}
		h.exec("UPDATE schedule_settings SET value = 'one' WHERE name = 'gatekeeper_phase'")
		if s, err := h.db().Settings(t.Context()); err != nil || s.Phase != 2 {
			t.Errorf("a phase that cannot be read: %+v, %v", s, err)
		}
	})
}

func TestWeeksAndRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		if list, err := h.db().Weeks(t.Context(), "", ""); err != nil || list == nil || len(list) != 0 {
			t.Errorf("nothing is saved: %v, %v", list, err)
		}
		w := week(54)
		itemOf(w, 2)["price"], itemOf(w, 2)["caption_id"] = nil, nil
		itemOf(w, 3)["caption_text"] = "'; DROP TABLE schedule_items; --"
		if r := h.call(saveTool, saving(h.certified(w))); r.Failed {
			t.Fatal(r.Text())
		}
		for _, by := range [][2]string{{"", ""}, {"ada", ""}, {"ada_kitchen", demoWeek}, {"", demoWeek}} {
			list, err := h.db().Weeks(t.Context(), by[0], by[1])
			if err != nil || len(list) != 1 || list[0].Creator != "ada" || list[0].Start != demoWeek || list[0].Items != 54 || list[0].Status != statusApproved || *list[0].Score != 100 {
				t.Errorf("%v: %+v, %v", by, list, err)
			}
		}
		for _, by := range [][2]string{{"ben", ""}, {"ada", "2026-01-06"}, {"ada", "' OR 1=1 --"}} {
			if list, err := h.db().Weeks(t.Context(), by[0], by[1]); err != nil || len(list) != 0 {
				t.Errorf("%v: %+v, %v", by, list, err)
			}
		}
		if _, err := h.db().Weeks(t.Context(), "nobody", ""); err == nil {
			t.Error("nobody has weeks")
		}
		rows, err := h.db().Rows(t.Context(), "ada", demoWeek)
		if err != nil || len(rows) != 54 || !slices.IsSortedFunc(rows, func(a, b Row) int { return a.Position - b.Position }) {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		one := rows[1]
		if one.Date != demoWeek || one.Time != "09:37" || one.SendType != "link_drop" || *one.ContentType != "travel" || *one.Price != 18 || one.Caption != int64(2) {
			t.Errorf("%+v", one)
		}
		if rows[2].Price != nil || rows[2].Caption != nil {
			t.Errorf("%+v", rows[2])
		}
		var item map[string]any
		if err := json.Unmarshal(rows[3].Item, &item); err != nil || item["caption_text"] != "'; DROP TABLE schedule_items; --" {
			t.Errorf("%s, %v", rows[3].Item, err)
		}
	})
}

// TestSavedStatus checks the saved status of a schedule that a person must review.
func TestSavedStatus(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := week(54)
	w["confidence_score"] = 0.39
	if r := h.call(saveTool, saving(h.certified(w))); r.Failed {
		t.Fatal(r.Text())
	}
	if list, err := h.db().Weeks(t.Context(), "", ""); err != nil || list[0].Status != statusNeedsReview || *list[0].Score != 90 {
		t.Errorf("%+v, %v", list, err)
	}
}
