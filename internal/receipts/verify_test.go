package receipts_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
)

var made = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// pair is a fixed key with its trust.
func pair(t testing.TB, seed byte) (signatures.Key, signatures.Trust) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signatures.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	return key, signatures.Trust{Keys: key.Public()}
}

func claim(text string) receipts.Claim {
	files := map[string]string{"post.yaml": signatures.Digest([]byte("cascade")), "house.py": signatures.Digest([]byte("program"))}
	policy, err := receipts.PolicyDigest(files)
	if err != nil {
		panic(err)
	}
	gate := signatures.Digest([]byte("gate"))
	return receipts.Claim{
		Capstan: receipts.Program{Version: "v1.2.3", Digest: signatures.Digest([]byte("binary"))},
		Run:     "r1", Cascade: receipts.Policy{ID: "post", Digest: policy, Files: files},
		Phase: "draft", Path: "draft/attempt[2]", Attempt: 2,
		Text: signatures.Digest([]byte(text)),
		Gates: []receipts.Gate{
			{Name: "long_enough", Path: "draft/attempt[2]/post[0]", Digest: gate, Moment: "post", Mode: "retry", Verdict: receipts.GatePassed,
				Strength: &receipts.Strength{Evidence: gate, FalsePass: [2]float64{0.01, 0.12}, FalseBlock: [2]float64{0, 0.03}, Bad: 40, Good: 100}},
			{Name: "tone", Path: "draft/attempt[2]/post[1]", Digest: gate, Moment: "post", Mode: "advisory", Verdict: receipts.GateRefused, Reason: gate},
		},
		Shadow: []receipts.Gate{}, Degraded: []string{}, Inputs: map[string]string{"topic": gate},
		Models: []string{"gpt-5-mini"}, People: []string{}, Released: made.Add(-time.Minute),
	}
}

func issue(t testing.TB, key signatures.Signer, c receipts.Claim) []byte {
	t.Helper()
	text, err := receipts.Issue(key, c, made)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// want holds a report's word and field.
func want(t *testing.T, name string, r receipts.Report, verdict, field string) {
	t.Helper()
	if r.Verdict != verdict || r.Field != field || (verdict == receipts.Passed) != (r.Reason == "") {
		t.Errorf("%s: %s, field %q, %q; want %s, %q", name, r.Verdict, r.Field, r.Reason, verdict, field)
	}
}

func TestVerify(t *testing.T) {
	const text = "A post on owls.\nIt ends.\n"
	key, trust := pair(t, 1)
	other, _ := pair(t, 2)
	good := issue(t, key, claim(text))
	c := claim(text)
	degraded := claim(text)
	degraded.Degraded, degraded.Gates[0].Verdict = []string{"long_enough"}, receipts.GateRefused
	lied := claim(text)
	lied.Gates[0].Verdict = receipts.GateErred
	gate := c.Gates[0].Digest
	terms := func(from, until time.Time) signatures.Trust {
		return signatures.Trust{Keys: trust.Keys, Terms: map[string]signatures.Term{key.ID(): {Name: "2026", From: from, Until: until}}}
	}
	for name, row := range map[string]struct {
		text           string
		receipt        []byte
		trust          signatures.Trust
		want           receipts.Demand
		verdict, field string
	}{
		"good":                        {text, good, trust, receipts.Demand{}, receipts.Passed, ""},
		"without its line end":        {text, bytes.TrimSuffix(good, []byte("\n")), trust, receipts.Demand{}, receipts.CannotTell, "envelope"},
		"another text":                {"A post on cats.\n", good, trust, receipts.Demand{}, receipts.Refused, "subject[0].digest.sha256"},
		"no text":                     {"", good, trust, receipts.Demand{}, receipts.Refused, "subject[0].digest.sha256"},
		"another key":                 {text, issue(t, other, c), trust, receipts.Demand{}, receipts.Refused, "signatures[0].keyid"},
		"no receipt":                  {text, nil, trust, receipts.Demand{}, receipts.CannotTell, "envelope"},
		"truncated":                   {text, good[:len(good)/2], trust, receipts.Demand{}, receipts.CannotTell, "envelope"},
		"doubled":                     {text, slices.Concat(good, good), trust, receipts.Demand{}, receipts.CannotTell, "envelope"},
		"two line ends":               {text, append(slices.Clone(good), '\n'), trust, receipts.Demand{}, receipts.Refused, "envelope"},
		"indented":                    {text, indented(t, good), trust, receipts.Demand{}, receipts.Refused, "envelope"},
		"the text for the receipt":    {text, []byte(text), trust, receipts.Demand{}, receipts.CannotTell, "envelope"},
		"a key's term holds":          {text, good, terms(made, made.Add(1)), receipts.Demand{}, receipts.Passed, ""},
		"before a key's term":         {text, good, terms(made.Add(1), time.Time{}), receipts.Demand{}, receipts.Refused, "predicate.timeVerified"},
		"behind a key's term":         {text, good, terms(time.Time{}, made), receipts.Demand{}, receipts.Refused, "predicate.timeVerified"},
		"degraded":                    {text, issue(t, key, degraded), trust, receipts.Demand{}, receipts.Refused, "degraded"},
		"degraded, which is taken":    {text, issue(t, key, degraded), trust, receipts.Demand{Degraded: true}, receipts.Passed, ""},
		"a gate erred":                {text, issue(t, key, lied), trust, receipts.Demand{}, receipts.Refused, "gates[0].verdict"},
		"a gate":                      {text, good, trust, receipts.Demand{Gates: []signatures.GateDemand{{Name: "long_enough"}}}, receipts.Passed, ""},
		"exactly that gate":           {text, good, trust, receipts.Demand{Gates: []signatures.GateDemand{{Name: "long_enough", Digest: gate}}}, receipts.Passed, ""},
		"another gate of that name":   {text, good, trust, receipts.Demand{Gates: []signatures.GateDemand{{Name: "long_enough", Digest: c.Text}}}, receipts.Refused, "gates"},
		"an advisory gate":            {text, good, trust, receipts.Demand{Gates: []signatures.GateDemand{{Name: "tone"}}}, receipts.Refused, "gates"},
		"no such gate":                {text, good, trust, receipts.Demand{Gates: []signatures.GateDemand{{Name: "facts"}}}, receipts.Refused, "gates"},
		"that cascade":                {text, good, trust, receipts.Demand{Cascade: c.Cascade.Digest}, receipts.Passed, ""},
		"another cascade":             {text, good, trust, receipts.Demand{Cascade: gate}, receipts.Refused, "cascade.digest"},
		"young enough":                {text, good, trust, receipts.Demand{MaxAge: time.Hour, Now: made.Add(time.Hour)}, receipts.Passed, ""},
		"too old":                     {text, good, trust, receipts.Demand{MaxAge: time.Hour, Now: made.Add(time.Hour + 1)}, receipts.Refused, "predicate.timeVerified"},
		"from the future":             {text, good, trust, receipts.Demand{MaxAge: time.Hour, Now: made.Add(-time.Hour)}, receipts.Refused, "predicate.timeVerified"},
		"from the future, of any age": {text, good, trust, receipts.Demand{Now: made.Add(-5*time.Minute - 1)}, receipts.Refused, "predicate.timeVerified"},
		"of a clock that is ahead":    {text, good, trust, receipts.Demand{Now: made.Add(-5 * time.Minute)}, receipts.Passed, ""},
		"two signatures":              {text, respell(t, good, func(e map[string]any) { s := e["signatures"].([]any); e["signatures"] = append(s, s[0]) }), trust, receipts.Demand{}, receipts.Refused, "signatures"},
		"no signature":                {text, respell(t, good, func(e map[string]any) { e["signatures"] = []any{} }), trust, receipts.Demand{}, receipts.Refused, "signatures"},
		"another payload type":        {text, respell(t, good, func(e map[string]any) { e["payloadType"] = "application/json" }), trust, receipts.Demand{}, receipts.Refused, "payloadType"},
		"a field more":                {text, respell(t, good, func(e map[string]any) { e["more"] = 1 }), trust, receipts.Demand{}, receipts.CannotTell, "envelope"},
		"a signature with a line end": {text, respell(t, good, signature(func(s string) string { return s[:40] + "\n" + s[40:] })), trust, receipts.Demand{}, receipts.Refused, "signatures[0].sig"},
		"a signature unpadded":        {text, respell(t, good, signature(func(s string) string { return strings.TrimRight(s, "=") })), trust, receipts.Demand{}, receipts.Refused, "signatures[0].sig"},
		"a signature's other padding": {text, respell(t, good, signature(otherPadding)), trust, receipts.Demand{}, receipts.Refused, "signatures[0].sig"},
		"another run's signature":     {text, respell(t, good, signature(func(string) string { return sigOf(t, issue(t, key, claim("x"))) })), trust, receipts.Demand{}, receipts.Refused, "signatures[0].sig"},
		"a payload with a line end":   {text, respell(t, good, func(e map[string]any) { p := e["payload"].(string); e["payload"] = p[:8] + "\n" + p[8:] }), trust, receipts.Demand{}, receipts.Refused, "payload"},
	} {
		want(t, name, receipts.Verify(receipts.Bytes([]byte(row.text)), row.receipt, row.trust, row.want), row.verdict, row.field)
	}
}

func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// respell changes an envelope and writes it canonically again.
func respell(t testing.TB, text []byte, change func(map[string]any)) []byte {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	change(e)
	again, err := signatures.Canonical(e)
	if err != nil {
		t.Fatal(err)
	}
	return append(again, '\n')
}

func signature(change func(string) string) func(map[string]any) {
	return func(e map[string]any) {
		s := e["signatures"].([]any)[0].(map[string]any)
		s["sig"] = change(s["sig"].(string))
	}
}

func sigOf(t *testing.T, text []byte) (sig string) {
	respell(t, text, signature(func(s string) string { sig = s; return s }))
	return sig
}

// otherPadding sets a bit in the padding that a lenient decoder ignores. The base64
// form of 64 bytes has two such bits.
func otherPadding(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	end := strings.TrimRight(s, "=")
	last := strings.IndexByte(alphabet, end[len(end)-1])
	return end[:len(end)-1] + string(alphabet[last|1]) + s[len(end):]
}

// TestStatementsAreOne: a validly signed statement is rejected if [receipts.Issue]
// would write it differently.
func TestStatementsAreOne(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	good := issue(t, key, claim(text))
	var e struct{ Payload string }
	if err := json.Unmarshal(good, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ old, new, verdict, field string }{
		"a newer version":        {"receipt/v1", "receipt/v2", receipts.CannotTell, "predicate"},
		"no claim":               {`"https://github.com/seed61713e19/capstan/receipt/v1"`, `"https://example.com/v1"`, receipts.CannotTell, "predicate"},
		"an unknown field":       {`"attempt":2`, `"attempt":2,"best":true`, receipts.CannotTell, "predicate"},
		"another result":         {"PASSED", "FAILED", receipts.Refused, "predicate.verificationResult"},
		"another policy":         {`"uri":"capstan:cascade/post"`, `"uri":"capstan:cascade/other"`, receipts.Refused, "predicate.policy.uri"},
		"another subject's name": {`"name":"text"`, `"name":"tent"`, receipts.Refused, "subject[0].name"},
		"another statement type": {"Statement/v1", "Statement/v0.1", receipts.CannotTell, "_type"},
		"another predicate type": {"verification_summary/v1", "provenance/v1", receipts.CannotTell, "predicateType"},
		"a space":                {`"attempt":2`, `"attempt": 2`, receipts.Refused, "payload"},
	} {
		changed := bytes.Replace(payload, []byte(row.old), []byte(row.new), 1)
		if bytes.Equal(changed, payload) {
			t.Errorf("%s: %q is not in %s", name, row.old, payload)
		}
		sealed, err := signatures.Seal(key, receipts.PayloadType, changed)
		if err != nil {
			t.Fatal(err)
		}
		want(t, name, receipts.Verify(receipts.Bytes([]byte(text)), sealed, trust, receipts.Demand{}), row.verdict, row.field)
	}
}

// TestEveryByte flips one random bit of every byte of receipts and texts in turn. The
// report must name the field with the byte or, for signed bytes, the signature. With
// CAPSTAN_EVERY_BYTE it tests all bytes of a thousand receipts, which takes minutes.
// Otherwise it tests one receipt and samples of others.
func TestEveryByte(t *testing.T) {
	key, trust := pair(t, 1)
	receipts, step := 20, 300
	if os.Getenv("CAPSTAN_EVERY_BYTE") != "" {
		receipts, step = 1000, 1
	}
	var flips atomic.Int64
	t.Run("all", func(t *testing.T) {
		for n := range receipts {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				flips.Add(int64(everyByte(t, n, 1+(step-1)*min(n, 1), key, trust)))
			})
		}
	})
	t.Logf("%d receipts, %d flips", receipts, flips.Load())
}

// everyByte flips bytes of the n-th receipt at a distance of at most step, and all
// bytes of its text.
func everyByte(t *testing.T, n, step int, key signatures.Signer, trust signatures.Trust) (flips int) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	text := fmt.Appendf(nil, "text %d %x\n", n, random.Uint64())
	c := variedClaim(n, string(text))
	r := issue(t, key, c)
	want(t, c.Run, receipts.Verify(receipts.Bytes(text), r, trust, receipts.Demand{}), receipts.Passed, "")
	flip := func(text []byte, at int) []byte {
		flips++
		text = slices.Clone(text)
		text[at] ^= 1 << random.IntN(8)
		return text
	}
	for at := 0; at < len(r); at += 1 + random.IntN(step) {
		got := receipts.Verify(receipts.Bytes(text), flip(r, at), trust, receipts.Demand{})
		if got.Verdict == receipts.Passed || got.Reason == "" || !slices.Contains(fieldsAt(r, at), got.Field) {
			t.Errorf("receipt %d, byte %d: %+v; want one of %q", n, at, got, fieldsAt(r, at))
			return flips
		}
	}
	for at := range text {
		want(t, c.Run, receipts.Verify(receipts.Bytes(flip(text, at)), r, trust, receipts.Demand{}), receipts.Refused, "subject[0].digest.sha256")
	}
	return flips
}

// variedClaim returns the n-th claim about a text, with varying content.
func variedClaim(n int, text string) receipts.Claim {
	c := claim(text)
	c.Run, c.Attempt, c.Path = fmt.Sprintf("run-%d", n), n+1, fmt.Sprintf("draft/attempt[%d]", n+1)
	c.Gates = c.Gates[:n%3]
	if n%5 != 0 && len(c.Gates) > 0 {
		c.Gates[0].Strength = nil
	}
	if n%7 == 0 {
		c.Output, c.Texts = c.Text, &receipts.Texts{Text: text}
	}
	if n%11 == 0 {
		for i := range c.Gates {
			c.Gates[i].Mode = "shadow"
		}
		c.Shadow, c.Gates, c.People = c.Gates, []receipts.Gate{}, []string{"Zoë <zoe@example.com>"}
	}
	return c
}

// fieldsAt are the fields that may be named where that byte is another.
func fieldsAt(r []byte, at int) []string {
	for _, part := range []struct{ begin, end, name string }{
		{`{"payload":"`, `","payloadType":"`, "payload"},
		{`","payloadType":"`, `","signatures":[{"keyid":"`, "payloadType"},
		{`","signatures":[{"keyid":"`, `","sig":"`, "signatures[0].keyid"},
		{`","sig":"`, `"}]}`, "signatures[0].sig"},
	} {
		if begin, end := bytes.Index(r, []byte(part.begin))+len(part.begin), bytes.Index(r, []byte(part.end)); begin <= at && at < end {
			return []string{"envelope", part.name, "signatures[0].sig"}
		}
	}
	return []string{"envelope"}
}

func TestNearly(t *testing.T) {
	key, trust := pair(t, 1)
	for name, row := range map[string]struct{ released, here, reason string }{
		"CR LF for LF":       {"a\nb\n", "a\r\nb\r\n", "CR LF made LF"},
		"LF for CR LF":       {"a\r\nb\r\n", "a\nb\n", "LF made CR LF"},
		"a byte order mark":  {"a\n", "\xef\xbb\xbfa\n", "byte order mark"},
		"a line end more":    {"a", "a\n", "without the line end"},
		"a CR LF more":       {"a", "a\r\n", "without the line end"},
		"a line end less":    {"a\n", "a", "with a line end behind it"},
		"something else":     {"a\n", "b\n", ""},
		"a lone CR":          {"a\nb", "a\rb", ""},
		"one of two the end": {"a\n", "a\n\n", "without the line end"},
		"blank lines":        {"a\n\n\nb\n\n", "a\r\n\r\n\r\nb\r\n\r\n", "CR LF made LF"},
		"a mark and CR LF":   {"a\n\nb\n", "\xef\xbb\xbfa\r\n\r\nb\r\n", "without the byte order mark that it begins with, with its line ends CR LF made LF;"},
		"all of them":        {"a\nb", "\xef\xbb\xbfa\r\nb\r\n", "without the byte order mark that it begins with, with its line ends CR LF made LF, without the line end that it ends with;"},
		"CR LF and an end":   {"a\r\nb\r\n", "a\nb", "with its line ends LF made CR LF, with a line end behind it;"},
		"two marks":          {"a", "\xef\xbb\xbf\xef\xbb\xbfa", ""},
		"half a mark":        {"a", "\xef\xbb", ""},
	} {
		r := issue(t, key, claim(row.released))
		got := receipts.Verify(receipts.Bytes([]byte(row.here)), r, trust, receipts.Demand{})
		want(t, name, got, receipts.Refused, "subject[0].digest.sha256")
		if !strings.Contains(got.Reason, row.reason) || (row.reason == "") == strings.Contains(got.Reason, "would match") {
			t.Errorf("%s: %s", name, got.Reason)
		}
		// However the text comes in, the same is said of it.
		again := receipts.Verify(byByte(row.here), r, trust, receipts.Demand{})
		if again.Reason != got.Reason {
			t.Errorf("%s: byte by byte: %s; want %s", name, again.Reason, got.Reason)
		}
	}
}

func byByte(text string) receipts.Source {
	return func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), nil
	}
}

func TestJSONInAnotherSpelling(t *testing.T) {
	key, trust := pair(t, 1)
	c := claim("Here it is: {\"title\": \"owls\", \"n\": 1.0}")
	output, err := signatures.CanonicalText([]byte(`{"n":1,"title":"owls"}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Output = signatures.Digest(output)
	verified := func(texts map[string]string) {
		r := issue(t, key, c)
		for text, verdict := range texts {
			if got := receipts.Verify(receipts.Bytes([]byte(text)), r, trust, receipts.Demand{}); got.Verdict != verdict {
				t.Errorf("%s: %+v", text, got)
			}
		}
	}
	verified(map[string]string{
		"Here it is: {\"title\": \"owls\", \"n\": 1.0}":  receipts.Passed,
		"{\n  \"title\": \"owls\",\n  \"n\": 1e0\n}\n":   receipts.Passed,
		`{"title":"owls","n":2}`:                         receipts.Refused,
		`{"title":"cats","title":"owls","n":1}`:          receipts.Refused,
		`{"title":"owls","n":1}{"title":"owls","n":1}`:   receipts.Refused,
		`{"title":"owls","n":1,"more":9007199254740993}`: receipts.Refused,
	})
	// A number that readers disagree on has its written form in the digest.
	c.Output = signatures.Digest([]byte("{\"a\":\"\\u003cé\ufffd\",\"n\":12345678901234567890}"))
	verified(map[string]string{
		"{\"n\": 12345678901234567890,\n \"a\": \"<\\u00e9\ufffd\"}\n": receipts.Passed,
		`{"a":"<é\ufffd","n":12345678901234567891}`:                    receipts.Refused,
		`{"a":"<é\ufffd","n":1234567890123456789e1}`:                   receipts.Refused,
		`{"a":"<é\ud800","n":12345678901234567890}`:                    receipts.Refused, // half of a pair
		`{"n":1,"a":"<é\ufffd","n":12345678901234567890}`:              receipts.Refused,
		"{\"a\":\"<é\xff\",\"n\":12345678901234567890}":                receipts.Refused,
	})
}

func TestUnreadableText(t *testing.T) {
	key, trust := pair(t, 1)
	broken := func() (io.ReadCloser, error) { return nil, errors.New("the disk is gone") }
	want(t, "no disk", receipts.Verify(broken, issue(t, key, claim("a")), trust, receipts.Demand{}), receipts.CannotTell, "text")
}

func BenchmarkVerify(b *testing.B) {
	key, trust := pair(b, 1)
	text := []byte(strings.Repeat("a line of text\n", 400))
	r := issue(b, key, claim(string(text)))
	b.Run("issue", func(b *testing.B) {
		for b.Loop() {
			issue(b, key, claim(string(text)))
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if got := receipts.Verify(receipts.Bytes(text), r, trust, receipts.Demand{}); got.Verdict != receipts.Passed {
				b.Fatal(got)
			}
		}
	})
}
