package schedule

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// fixedKey is a constant key, equal in all tests and processes.
func fixedKey(tb testing.TB) (key *signatures.Key, public []byte) {
	tb.Helper()
	private := ed25519.NewKeyFromSeed(slices.Repeat([]byte{7}, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	if key, err = newSigner(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))); err != nil {
		tb.Fatal(err)
	}
	if der, err = x509.MarshalPKIXPublicKey(private.Public()); err != nil {
		tb.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// paper returns the facts of a database about ada, without a database. A fuzzer calls a
// function thousands of times, so it must not query one.
func paper() creatorRecord {
	f := facts{id: "ada", pageName: "ada_kitchen", pageType: paidPage, active: true, analysisDate: "2026-01-02", inVault: map[string]bool{}, avoided: map[string]bool{}}
	types := map[string]bool{"pottery": true, "hiking": true}
	for i, name := range goodTypes {
		quantity := int64(10 + i)
		f.vault = append(f.vault, vaultEntry{ContentTypeID: int64(i + 1), TypeName: name, Quantity: &quantity})
		f.inVault[name], types[name] = true, true
		rank, earnings := int64(i+1), float64(40000-3000*i)
		f.rankings = append(f.rankings, ranking{name, &rank, "MID", &earnings})
	}
	f.rankings[0].Tier = "TOP"
	for _, name := range []string{"hiking", "pottery"} {
		f.avoided[name] = true
		f.rankings = append(f.rankings, ranking{ContentType: name, Tier: "AVOID"})
	}
	b := creatorRecord{facts: f, types: types, database: strings.Repeat("0123456789abcdef", 2)}
	for day := range 30 {
		b.history.prices.add(float64(14 + 2*(day%5)))
		b.history.hours[20] += 100
	}
	b.history.earned = true
	return b
}

// paperScene is a scene without any database.
func paperScene(tb testing.TB) scene {
	tb.Helper()
	key, public := fixedKey(tb)
	keys, err := trustedKeys(string(public))
	if err != nil {
		tb.Fatal(err)
	}
	p := mustPolicy(tb, "")
	return scene{
		back: paper(), policy: p, sign: key, keeper: gatekeeper{p, keys, 2, noon},
		standing: preflightData{facts: paper().facts, captions: 400, persona: true, messages: true},
	}
}

// certify takes a week through the critic, selection and quality.
func (s scene) certify(tb testing.TB, w map[string]any) map[string]any {
	tb.Helper()
	v, _ := s.policy.critic(approval, nil)
	decision := s.policy.criticStatement(w, approval, details(v), noon)
	if decision != nil && !statements.Seal(statements.Critic, s.sign, decision) {
		tb.Fatal("the decision cannot be signed")
	}
	r := newReport(s.policy)
	w["critic_certificate"] = decision
	w["validation_proof"] = details(r.selectionVerdict(r.read(w, 0), s.back.facts, nil, noon))["validation_proof"]
	s.w = w
	w["validation_certificate"] = details(s.quality())["validation_certificate"]
	return w
}

func TestPaperScene(t *testing.T) {
	s := paperScene(t)
	s.w = s.certify(t, week(54))
	s.w["critic"] = approval
	for gate, v := range s.gates() {
		if !v.Valid {
			t.Errorf("%s: %s", gate, v.Reason)
		}
	}
}

// FuzzSubject checks, for any text, that each gate returns the same verdict twice. An
// accepted text has no rejection in its verdict, and a signed one verifies.
func FuzzSubject(f *testing.F) {
	s := paperScene(f)
	// The fuzzer minimizes each interesting input for a minute by default, and larger
	// seeds take longer.
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil {
		f.Fatal(err)
	}
	for _, n := range []int{0, 1, 2} {
		text, err := json.Marshal(s.certify(f, week(n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"creator_id":"ada","items":[{"send_type_key":"ppv_unlock","price":1e999,"scheduled_date":"9999-12-31","scheduled_time":"23:59:59+14:00"}]}`)
	f.Add(`{"items":[null,{}],"validation_proof":{"mcp_calls_executed":[]},"validation_certificate":{"violations_found":1}}`)
	f.Add(`{"validation_certificate":{"certificate_version":"2.0","evidence":[],"expected_items":{"x":"y"}},"items":[{}]}`)
	f.Add(`{"revenue_aggressiveness":1e308,"concerns":[{"severity":1}],"major_concerns":-1}`)
	f.Add("```json\n{\"items\":[{\"a\":1,\"\\u0061\":2}]}\n```")
	f.Fuzz(func(t *testing.T, content string) {
		once := s.of(content)
		if once["none"].Reason != "" {
			return
		}
		again := s.of(content)
		for gate, v := range once {
			a, errA := json.Marshal(v)
			b, errB := json.Marshal(again[gate])
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Fatalf("%s: not the same verdict twice: %v %v\n%s\n%s", gate, errA, errB, a, b)
			}
			d, _ := v.Details.(map[string]any)
			if v.Valid && gate != qualityGate && strings.Contains(fmt.Sprint(d), statusRejected) {
				t.Fatalf("%s: %s", gate, a)
			}
			if c, ok := d["validation_certificate"].(map[string]any); ok && c[statements.SignatureField] != "" && statements.Verify(statements.Certificate, s.keeper.keys, c) != nil {
				t.Fatalf("what was signed does not verify: %s", a)
			}
		}
	})
}

// of returns the verdicts of all gates on a text.
func (s scene) of(content string) map[string]validators.Verdict {
	m, err := object(validators.Subject{Content: content})
	if err != nil {
		return map[string]validators.Verdict{"none": s.policy.unreadable(err)}
	}
	s.w = unwrapSchedule(m)
	return s.gates()
}
