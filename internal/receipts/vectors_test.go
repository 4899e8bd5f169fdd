package receipts_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
)

var update = flag.Bool("update", false, "write the vectors")

const vectorsFile = "testdata/vectors.json"

// A vector is a test case for other implementations: a text, a receipt, the trusted
// key, and the expected report.
type vector struct {
	Name    string `json:"name"`
	Text    []byte `json:"text"` // in base64
	Receipt string `json:"receipt"`
	Public  string `json:"public"`
	Verdict string `json:"verdict"`
	Field   string `json:"field,omitempty"`
	// OneSpelling marks a receipt that is only in the wrong spelling, so a lenient
	// reader accepts it.
	OneSpelling bool `json:"one_spelling,omitempty"`
}

func makeVectors(t *testing.T) []vector {
	t.Helper()
	const text = "A post on owls, é.\nIt ends.\n"
	key, trust := pair(t, 1)
	other, _ := pair(t, 2)
	der, err := x509.MarshalPKIXPublicKey(trust.Keys[key.ID()])
	if err != nil {
		t.Fatal(err)
	}
	public := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	good := issue(t, key, claim(text))
	degraded := claim(text)
	degraded.Degraded, degraded.Gates[0].Verdict = []string{"long_enough"}, receipts.GateRefused
	list := []vector{
		{Name: "good", Text: []byte(text), Receipt: string(good), Verdict: receipts.Passed},
		{Name: "another text", Text: []byte("x"), Receipt: string(good), Verdict: receipts.Refused, Field: "subject[0].digest.sha256"},
		{Name: "another key", Text: []byte(text), Receipt: string(issue(t, other, claim(text))), Verdict: receipts.Refused, Field: "signatures[0].keyid"},
		{Name: "released without a check", Text: []byte(text), Receipt: string(issue(t, key, degraded)), Verdict: receipts.Refused, Field: "degraded"},
		{Name: "truncated", Text: []byte(text), Receipt: string(good[:200]), Verdict: receipts.CannotTell, Field: "envelope"},
		{Name: "no signature", Text: []byte(text), Receipt: string(respell(t, good, func(e map[string]any) { e["signatures"] = []any{} })), Verdict: receipts.Refused, Field: "signatures"},
		{Name: "another payload type", Text: []byte(text), Receipt: string(respell(t, good, func(e map[string]any) { e["payloadType"] = "application/json" })), Verdict: receipts.Refused, Field: "payloadType"},
		{Name: "a line end in the signature", Text: []byte(text), Receipt: string(respell(t, good, signature(func(s string) string { return s[:9] + "\n" + s[9:] }))), Verdict: receipts.Refused, Field: "signatures[0].sig", OneSpelling: true},
		{Name: "other padding bits in the signature", Text: []byte(text), Receipt: string(respell(t, good, signature(otherPadding))), Verdict: receipts.Refused, Field: "signatures[0].sig", OneSpelling: true},
		{Name: "a key twice", Text: []byte(text), Receipt: strings.Replace(string(good), "{", `{"payload":"",`, 1), Verdict: receipts.CannotTell, Field: "envelope", OneSpelling: true},
		{Name: "an escaped key", Text: []byte(text), Receipt: strings.Replace(string(good), `"payload"`, `"p\u0061yload"`, 1), Verdict: receipts.Refused, Field: "envelope", OneSpelling: true},
		{Name: "a blank behind", Text: []byte(text), Receipt: strings.TrimSuffix(string(good), "\n") + " \n", Verdict: receipts.Refused, Field: "envelope", OneSpelling: true},
		{Name: "the signature of another text's receipt", Text: []byte(text), Receipt: string(respell(t, good, signature(func(string) string { return sigOf(t, issue(t, key, claim("x"))) }))), Verdict: receipts.Refused, Field: "signatures[0].sig"},
		{Name: "CR LF in the text", Text: []byte(strings.ReplaceAll(text, "\n", "\r\n")), Receipt: string(good), Verdict: receipts.Refused, Field: "subject[0].digest.sha256"},
		{Name: "without its line end", Text: []byte(text), Receipt: strings.TrimSuffix(string(good), "\n"), Verdict: receipts.CannotTell, Field: "envelope", OneSpelling: true},
		{Name: "indented", Text: []byte(text), Receipt: string(indented(t, good)), Verdict: receipts.Refused, Field: "envelope", OneSpelling: true},
	}
	for i := range list {
		list[i].Public = public
	}
	return list
}

func vectors(t *testing.T) []vector {
	t.Helper()
	if *update {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(makeVectors(t)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		t.Fatal(err, len(list))
	}
	return list
}

// TestVectors holds the published vectors: a receipt that was good once is good
// for ever.
func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		trust, err := signatures.ParseTrust([]byte(v.Public))
		if err != nil {
			t.Fatal(err)
		}
		want(t, v.Name, receipts.Verify(receipts.Bytes(v.Text), []byte(v.Receipt), trust, receipts.Demand{}), v.Verdict, v.Field)
	}
}

// TestVectorsElsewhere has the vectors judged by an implementation that shares
// no code with this one.
func TestVectorsElsewhere(t *testing.T) {
	modules := os.Getenv("CAPSTAN_NODE_MODULES")
	node, err := exec.LookPath("node")
	if err != nil || modules == "" {
		t.Skip("NOT VERIFIED ELSEWHERE: node and CAPSTAN_NODE_MODULES, a node_modules with @sigstore/core and canonicalize, are not here")
	}
	out, err := exec.Command(node, "testdata/verify.mjs", vectorsFile).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var v struct {
			Name string
			Good bool
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		text[v.Name] = v.Good
	}
	for _, v := range vectors(t) {
		good, reported := text[v.Name]
		if expected := v.Verdict == receipts.Passed || v.OneSpelling; !reported || good != expected {
			t.Errorf("%s: elsewhere it is good: %v (reported: %v)", v.Name, good, reported)
		}
	}
}
