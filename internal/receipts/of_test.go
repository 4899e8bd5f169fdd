package receipts_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// runStory runs a story and returns the source of a receipt.
func runStory(t *testing.T, s *storytest.Story) (receipts.Run, engine.Result) {
	t.Helper()
	folder := trace.NewFolder()
	result, _ := engine.Run(s.Host(t, runner.WithSink(event.Func(folder.Add))), s.Cascade, s.Start())
	gates, err := s.Cascade.Gates(cascades.Chosen(s.Start().Model), nil)
	if err != nil {
		t.Fatal(err)
	}
	return receipts.Run{Run: folder.Run(), Cascade: s.Cascade, Gates: gates, Program: receipts.Program{Version: "v1"}}, result
}

// issueNow makes the receipt of a run of this minute.
func issueNow(t *testing.T, key signatures.Signer, c receipts.Claim) []byte {
	t.Helper()
	text, err := receipts.Issue(key, c, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestOfEveryStory: every text that a cascade's own phase releases has a valid receipt.
// The receipt names each check that could reject the text, and other texts have no
// receipt.
func TestOfEveryStory(t *testing.T) {
	key, trust := pair(t, 1)
	made := 0
	for _, s := range append(storytest.Stories(t), storytest.RandomStories(t, 60)...) {
		run, _ := runStory(t, s)
		run.Texts = true
		for _, visit := range lastVisits(winner(run)) {
			claim, err := receipts.ClaimOf(run, word(visit))
			if visit.Released == "" {
				if err == nil {
					t.Errorf("%s: %s has let no text out and has a receipt", s.Name, visit.Path)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: %v", s.Name, visit.Path, err)
				continue
			}
			made++
			text := attemptText(t, visit)
			got := receipts.Verify(receipts.Bytes([]byte(text)), issueNow(t, key, claim), trust, receipts.Demand{Degraded: true})
			want(t, s.Name+" "+string(visit.Path), got, receipts.Passed, "")
			if degraded := visit.Status == "degraded"; degraded != (len(claim.Degraded) > 0) {
				t.Errorf("%s: %s is %s, and the receipt says that it is without %q", s.Name, visit.Path, visit.Status, claim.Degraded)
			}
			if miss := missing(s.Cascade, &claim); miss != "" {
				t.Errorf("%s: %s: the receipt does not tell of %s", s.Name, visit.Path, miss)
			}
			if back, err := receipts.ClaimOf(run, word(visit)); err != nil || !reflect.DeepEqual(back, claim) {
				t.Errorf("%s: %s: made again it is another: %v", s.Name, visit.Path, err)
			}
		}
	}
	if made < 60 {
		t.Errorf("%d receipts: the stories tell of more", made)
	}
}

// winner returns the phases of a run. If the whole cascade was tried several times,
// they are those of the winner.
func winner(r receipts.Run) []*trace.Phase {
	if r.Cascade.Tries == nil {
		return r.Phases
	}
	for _, try := range r.Phases[0].Texts() {
		if try.Path == r.Phases[0].Released {
			return try.Phases
		}
	}
	return nil
}

// lastVisits are those that a name means: of several visits the last that let a
// text out.
func lastVisits(phases []*trace.Phase) (list []*trace.Phase) {
	at := map[string]int{}
	for _, p := range phases {
		for _, visit := range append([]*trace.Phase{p}, p.Branches...) {
			name := visit.Name
			if visit.Item >= 0 {
				name = string(visit.Path)
			}
			i, again := at[name]
			switch {
			case !again:
				at[name] = len(list)
				list = append(list, visit)
			case visit.Released != "":
				list[i] = visit
			}
		}
	}
	return list
}

// word is how a visit is asked for.
func word(p *trace.Phase) string {
	if p.Item >= 0 {
		return string(p.Path)
	}
	return p.Name
}

func attemptText(t *testing.T, p *trace.Phase) string {
	t.Helper()
	for _, a := range p.Texts() {
		if a.Path == p.Released {
			return a.Text
		}
	}
	t.Fatalf("%s: there is no attempt %s", p.Path, p.Released)
	return ""
}

// missing names a check of the phase on its last text that the claim lacks.
func missing(c *cascades.Cascade, claim *receipts.Claim) string {
	for _, p := range c.EveryPhase() {
		if p.Name != claim.Phase {
			continue
		}
		for _, check := range p.Wards.Post {
			has := func(list []receipts.Gate) bool {
				for _, g := range list {
					if g.Name == check.Ward.Name && strings.HasPrefix(g.Path, claim.Path) {
						return true
					}
				}
				return false
			}
			if !has(claim.Gates) && !has(claim.Shadow) {
				return check.Ward.Name
			}
		}
	}
	return ""
}

// TestOfGateThatIsAnother: the digest of a gate depends on its definition.
func TestOfGateThatIsAnother(t *testing.T) {
	s := storytest.Embedded(t, "post_retry")
	run, _ := runStory(t, s)
	first, err := receipts.ClaimOf(run, "")
	if err != nil {
		t.Fatal(err)
	}
	if first.Attempt < 2 || len(first.Gates) == 0 {
		t.Fatalf("%+v", first)
	}
	run.Gates[0].Digest = ""
	if _, err := receipts.ClaimOf(run, ""); err == nil || !strings.Contains(err.Error(), "was not kept") {
		t.Error(err)
	}
	run.Gates = nil
	if _, err := receipts.ClaimOf(run, ""); err == nil || !strings.Contains(err.Error(), "no such gate") {
		t.Error(err)
	}
}

func TestOfNothing(t *testing.T) {
	for story, row := range map[string][2]string{"post_blocking": {"", "nothing to prove"}, "each": {"summaries", "name one of them, like summaries/item[0]"}} {
		phase, words := row[0], row[1]
		run, _ := runStory(t, storytest.Embedded(t, story))
		if _, err := receipts.ClaimOf(run, phase); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", story, err)
		}
	}
	run, _ := runStory(t, storytest.Embedded(t, "tries_lost"))
	if _, err := receipts.ClaimOf(run, ""); err == nil || strings.Contains(err.Error(), "its phases") {
		t.Errorf("of tries that are all lost: %v", err)
	}
	run, _ = runStory(t, storytest.Embedded(t, "plain"))
	if _, err := receipts.ClaimOf(run, "nobody"); err == nil || !strings.Contains(err.Error(), "its phases are") {
		t.Error(err)
	}
}

// TestWithTexts: texts are in a receipt where that is asked for, and only there.
func TestWithTexts(t *testing.T) {
	key, trust := pair(t, 1)
	run, _ := runStory(t, storytest.Embedded(t, "post_retry"))
	plain, err := receipts.ClaimOf(run, "")
	if err != nil {
		t.Fatal(err)
	}
	run.Texts = true
	whole, err := receipts.ClaimOf(run, "")
	if err != nil {
		t.Fatal(err)
	}
	if plain.Texts != nil || whole.Texts == nil || signatures.Digest([]byte(whole.Texts.Text)) != whole.Text {
		t.Errorf("%+v, %+v", plain.Texts, whole.Texts)
	}
	want(t, "with texts", receipts.Verify(receipts.Bytes([]byte(whole.Texts.Text)), issueNow(t, key, whole), trust, receipts.Demand{}), receipts.Passed, "")
}
