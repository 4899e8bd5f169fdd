package receipt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/receipt"
	"github.com/seed61713e19/capstan/runner/signatures"
)

// opened is what a receipt holds.
func opened(t *testing.T, sealed []byte) []byte {
	t.Helper()
	var e struct{ Payload string }
	if err := json.Unmarshal(sealed, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// TestRespelt: a receipt that JSON readers take for the same is none: it has one
// spelling, and no other may stand for it.
func TestRespelt(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	good := string(issue(t, key, claim(text)))
	line := strings.TrimSuffix(good, "\n")
	payload, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"payload":`), `,"payloadType"`)
	ending := func(with string) string { return strings.TrimSuffix(line, "}") + with }
	for name, row := range map[string]struct{ receipt, verdict string }{
		"keys in another order":      {`{"payloadType"` + strings.TrimSuffix(rest, "}") + `,"payload":` + payload + "}", receipt.Refused},
		"a key twice":                {ending(`,"payload":` + payload + "}"), receipt.CannotTell},
		"a key twice, escaped":       {ending(`,"p\u0061yload":` + payload + "}"), receipt.CannotTell},
		"a key twice, another case":  {ending(`,"PAYLOAD":` + payload + "}"), receipt.Refused},
		"a key in another case":      {strings.Replace(line, `"payload"`, `"Payload"`, 1), receipt.CannotTell},
		"an escaped key":             {strings.Replace(line, `"payload"`, `"p\u0061yload"`, 1), receipt.Refused},
		"an escaped value":           {strings.Replace(line, "vnd.in-toto", `vnd.in\u002dtoto`, 1), receipt.Refused},
		"an escaped slash":           {strings.Replace(line, "application/", `application\/`, 1), receipt.Refused},
		"a blank":                    {strings.Replace(line, `,"payloadType"`, ` ,"payloadType"`, 1), receipt.Refused},
		"a blank behind":             {line + " ", receipt.Refused},
		"CR LF behind":               {line + "\r\n", receipt.Refused},
		"a NUL behind":               {good + "\x00", receipt.CannotTell},
		"more behind":                {good + "{}", receipt.CannotTell},
		"a byte order mark":          {"\xef\xbb\xbf" + good, receipt.CannotTell},
		"UTF-16":                     {strings.Join(strings.Split(good, ""), "\x00"), receipt.CannotTell},
		"null for the signatures":    {line[:strings.Index(line, `"signatures":`)] + `"signatures":null}` + "\n", receipt.Refused},
		"an object for them":         {line[:strings.Index(line, `"signatures":`)] + `"signatures":{}}`, receipt.CannotTell},
		"null behind the signature":  {strings.TrimSuffix(line, "]}") + ",null]}", receipt.CannotTell},
		"a field in the signature":   {strings.TrimSuffix(line, "}]}") + `,"x":1}]}`, receipt.CannotTell},
		"a list around it":           {"[" + line + "]", receipt.CannotTell},
		"null":                       {"null", receipt.CannotTell},
		"an empty object":            {"{}", receipt.CannotTell},
		"deeper than anybody reads":  {strings.Repeat("[", 1<<20), receipt.CannotTell},
		"base64 of the URL alphabet": {strings.Replace(line, payload, strings.NewReplacer("+", "-", "/", "_").Replace(payload), 1) + " ", receipt.Refused},
	} {
		for _, got := range []receipt.Report{
			receipt.Verify(receipt.Bytes([]byte(text)), []byte(row.receipt), trust, receipt.Demand{}),
			receipt.Verify(receipt.Bytes([]byte("another")), []byte(row.receipt), trust, receipt.Demand{Degraded: true}),
		} {
			if got.Verdict != row.verdict || got.Field == "" || got.Reason == "" || len(got.Reason) > 500 || len(got.Checked) > 0 || got.Claim != nil {
				t.Errorf("%s: %+v; want %s", name, got, row.verdict)
			}
		}
	}
}

// TestSignedAndRespelt: what a trusted key has signed is refused where it is
// spelt in another way, or says a thing twice, and where who signed it wrote what
// capstan never would.
func TestSignedAndRespelt(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	payload := string(opened(t, issue(t, key, claim(text))))
	change := func(old, new string) string {
		if !strings.Contains(payload, old) {
			t.Errorf("%q does not stand in %s", old, payload)
		}
		return strings.Replace(payload, old, new, 1)
	}
	for name, changed := range map[string]string{
		"a key twice":           change(`"attempt":2`, `"attempt":2,"attempt":2`),
		"a key twice, escaped":  change(`"attempt":2`, `"attempt":2,"\u0061ttempt":2`),
		"a key in another case": change(`"attempt":2`, `"Attempt":2`),
		"another number":        change(`"attempt":2`, `"attempt":2.0`),
		"another time zone":     change(`"timeVerified":"2026-03-01T12:00:00Z"`, `"timeVerified":"2026-03-01T12:00:00+00:00"`),
		"a fraction":            change(`"timeVerified":"2026-03-01T12:00:00Z"`, `"timeVerified":"2026-03-01T12:00:00.5Z"`),
		"two subjects":          change(`"subject":[`, `"subject":[{"digest":{"sha256":"`+strings.Repeat("0", 64)+`"},"name":"text"},`),
		"another hash too":      change(`"subject":[{"digest":{`, `"subject":[{"digest":{"sha1":"00",`),
		"null for a list":       change(`"degraded":[]`, `"degraded":null`),
		"null for a text":       change(`"run":"r1"`, `"run":null`),
		"a list left out":       change(`"degraded":[],`, ``),
		"other files":           change(`"files":{"house.py"`, `"files":{"home.py"`),
		"a snake case name":     change(`"predicateType"`, `"predicate_type"`),
		"an unknown mode":       change(`"mode":"retry"`, `"mode":"always"`),
		"a gate in shadow":      change(`"mode":"retry"`, `"mode":"shadow"`),
		"a line end":            payload + "\n",
		"a byte order mark":     "\xef\xbb\xbf" + payload,
		"nothing":               "",
	} {
		sealed, err := signatures.Seal(key, receipt.PayloadType, []byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		got := receipt.Verify(receipt.Bytes([]byte(text)), sealed, trust, receipt.Demand{Degraded: true})
		if got.Verdict == receipt.Passed || got.Field == "" || got.Reason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestContradictions: what is signed and cannot be is refused, and the first field
// of it named.
func TestContradictions(t *testing.T) {
	const text = "A post on owls."
	key, trust := pair(t, 1)
	said := func(c *receipt.Claim) {
		reason := "too long"
		c.Inputs = map[string]string{"topic": signatures.Digest([]byte(`"owls"`)), "n": signatures.Digest([]byte("12345678901234567890"))}
		c.Gates[1].Reason = signatures.Digest([]byte(reason))
		c.Texts = &receipt.Texts{Text: text, Inputs: map[string]string{"topic": `"owls"`, "n": "12345678901234567890"}, Reasons: map[string]string{c.Gates[1].Path: reason}}
	}
	strength := func(change func(*receipt.Strength)) func(*receipt.Claim) {
		return func(c *receipt.Claim) { change(c.Gates[0].Strength) }
	}
	for name, row := range map[string]struct {
		field  string
		change func(*receipt.Claim)
	}{
		"nothing":                   {"", func(*receipt.Claim) {}},
		"texts that are its":        {"", said},
		"fewer texts":               {"", func(c *receipt.Claim) { said(c); c.Texts.Inputs, c.Texts.Reasons = nil, nil }},
		"an input spelt otherwise":  {"", func(c *receipt.Claim) { said(c); c.Texts.Inputs["topic"] = ` "\u006fwls"` }},
		"another text":              {"texts.text", func(c *receipt.Claim) { said(c); c.Texts.Text += " Really." }},
		"another input":             {"texts.inputs.topic", func(c *receipt.Claim) { said(c); c.Texts.Inputs["topic"] = `"cats"` }},
		"an input more":             {"texts.inputs.more", func(c *receipt.Claim) { said(c); c.Texts.Inputs["more"] = `1` }},
		"an input that is no JSON":  {"texts.inputs.topic", func(c *receipt.Claim) { said(c); c.Texts.Inputs["topic"] = `owls` }},
		"another reason":            {"texts.reasons.draft/attempt[2]/post[1]", func(c *receipt.Claim) { said(c); c.Texts.Reasons["draft/attempt[2]/post[1]"] = "too short" }},
		"a reason more":             {"texts.reasons.draft/attempt[2]/post[9]", func(c *receipt.Claim) { said(c); c.Texts.Reasons["draft/attempt[2]/post[9]"] = "why" }},
		"released as it was made":   {"", func(c *receipt.Claim) { c.Released = made }},
		"released by another clock": {"", func(c *receipt.Claim) { c.Released = made.Add(time.Minute) }},
		"released later":            {"predicate.timeVerified", func(c *receipt.Claim) { c.Released = made.Add(time.Hour) }},
		"attempt 1":                 {"", func(c *receipt.Claim) { c.Attempt, c.Path = 1, "draft/attempt[1]" }},
		"a path of no attempt":      {"", func(c *receipt.Claim) { c.Attempt, c.Path = 1, "book" }},
		"another attempt":           {"attempt", func(c *receipt.Claim) { c.Attempt = 1 }},
		"attempt 0":                 {"attempt", func(c *receipt.Claim) { c.Attempt = 0 }},
		"attempt -5":                {"attempt", func(c *receipt.Claim) { c.Attempt = -5 }},
		"a gate that is x":          {"gates[1].digest", func(c *receipt.Claim) { c.Gates[1].Digest = "x" }},
		"a gate that is nothing":    {"gates[0].digest", func(c *receipt.Claim) { c.Gates[0].Digest = "" }},
		"a reason that is x":        {"gates[1].reason", func(c *receipt.Claim) { c.Gates[1].Reason = "x" }},
		"an input that is x":        {"inputs.topic", func(c *receipt.Claim) { c.Inputs["topic"] = "sha256:ABC" }},
		"no program's digest":       {"", func(c *receipt.Claim) { c.Capstan.Digest = "" }},
		"a program that is x":       {"capstan.digest", func(c *receipt.Claim) { c.Capstan.Digest = "x" }},
		"a file that is x": {"cascade.files.post.yaml", func(c *receipt.Claim) {
			c.Cascade.Files["post.yaml"] = "x"
			c.Cascade.Digest, _ = receipt.PolicyDigest(c.Cascade.Files)
		}},
		"a share above 1":        {"gates[0].strength.false_pass", strength(func(s *receipt.Strength) { s.FalsePass = [2]float64{0, 2} })},
		"a share below 0":        {"gates[0].strength.false_block", strength(func(s *receipt.Strength) { s.FalseBlock = [2]float64{-1, 1} })},
		"a share the wrong way":  {"gates[0].strength.false_pass", strength(func(s *receipt.Strength) { s.FalsePass = [2]float64{1, 0} })},
		"of -1 bad texts":        {"gates[0].strength.bad", strength(func(s *receipt.Strength) { s.Bad = -1 })},
		"of -1 good texts":       {"gates[0].strength.good", strength(func(s *receipt.Strength) { s.Good = -1 })},
		"measured on nothing":    {"", strength(func(s *receipt.Strength) { s.FalsePass, s.Bad = [2]float64{0, 1}, 0 })},
		"narrow on nothing":      {"gates[0].strength.false_block", strength(func(s *receipt.Strength) { s.FalseBlock, s.Good = [2]float64{0, 0.01}, 0 })},
		"evidence that is x":     {"gates[0].strength.evidence", strength(func(s *receipt.Strength) { s.Evidence = "x" })},
		"in shadow":              {"", func(c *receipt.Claim) { c.Shadow = []receipt.Gate{c.Gates[1]}; c.Shadow[0].Mode = "shadow" }},
		"in shadow and blocking": {"shadow[0].mode", func(c *receipt.Claim) { c.Shadow = []receipt.Gate{c.Gates[0]}; c.Shadow[0].Mode = "blocking" }},
		"a verdict of no word":   {"gates[1].verdict", func(c *receipt.Claim) { c.Gates[1].Verdict = "maybe" }},
		"a verdict in shadow that errs": {"", func(c *receipt.Claim) {
			c.Shadow = []receipt.Gate{c.Gates[1]}
			c.Shadow[0].Mode, c.Shadow[0].Verdict = "shadow", receipt.GateErred
		}},
		"degraded by what has passed":  {"degraded[0]", func(c *receipt.Claim) { c.Degraded = []string{"long_enough"} }},
		"degraded by what is advisory": {"degraded[0]", func(c *receipt.Claim) { c.Degraded = []string{"tone"} }},
		"degraded by nothing": {"degraded[1]", func(c *receipt.Claim) {
			c.Gates[0].Verdict, c.Degraded = receipt.GateRefused, []string{"long_enough", "facts"}
		}},
		"degraded by another": {"gates[0].verdict", func(c *receipt.Claim) {
			c.Gates[0].Verdict, c.Degraded = receipt.GateRefused, []string{"tone"}
		}},
	} {
		c := claim(text)
		row.change(&c)
		verdict := receipt.Refused
		if row.field == "" {
			verdict = receipt.Passed
		}
		want(t, name, receipt.Verify(receipt.Bytes([]byte(text)), issue(t, key, c), trust, receipt.Demand{}), verdict, row.field)
	}
}

// TestEveryGateOfTheName: a name that is required means each gate of it that
// could refuse the text, wherever it stands, and a digest exactly that one.
func TestEveryGateOfTheName(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	digest := func(n string) string { return signatures.Digest([]byte(n)) }
	gate := func(n, mode, verdict string) receipt.Gate {
		return receipt.Gate{Name: "tone", Path: "draft/attempt[2]/post[" + n + "]", Digest: digest(n), Moment: "post", Mode: mode, Verdict: verdict}
	}
	passed, refused := gate("0", "blocking", receipt.GatePassed), gate("1", "retry", receipt.GateRefused)
	before := receipt.Gate{Name: "tone", Path: "draft/pre[0]", Digest: digest("2"), Moment: "pre", Mode: "blocking", Verdict: receipt.GatePassed}
	for name, row := range map[string]struct {
		gates   []receipt.Gate
		want    string
		verdict string
	}{
		"one of two refused":         {[]receipt.Gate{passed, refused}, "tone", receipt.Refused},
		"the first refused":          {[]receipt.Gate{refused, passed}, "tone", receipt.Refused},
		"the refused is another":     {[]receipt.Gate{passed, refused}, "tone=" + digest("0"), receipt.Refused},
		"an advisory one refused":    {[]receipt.Gate{passed, gate("1", "advisory", receipt.GateRefused)}, "tone", receipt.Passed},
		"both passed":                {[]receipt.Gate{passed, gate("1", "retry", receipt.GatePassed)}, "tone", receipt.Passed},
		"one of both is that":        {[]receipt.Gate{passed, gate("1", "retry", receipt.GatePassed)}, "tone=" + digest("1"), receipt.Passed},
		"none of both is that":       {[]receipt.Gate{passed, gate("1", "retry", receipt.GatePassed)}, "tone=" + digest("2"), receipt.Refused},
		"that is the advisory one":   {[]receipt.Gate{passed, gate("1", "advisory", receipt.GatePassed)}, "tone=" + digest("1"), receipt.Refused},
		"skipped":                    {[]receipt.Gate{gate("0", "blocking", receipt.GateSkipped)}, "tone", receipt.Refused},
		"of the instructions":        {[]receipt.Gate{before}, "tone", receipt.Refused},
		"that is of instructions":    {[]receipt.Gate{before, passed}, "tone=" + digest("2"), receipt.Refused},
		"of both":                    {[]receipt.Gate{before, passed}, "tone", receipt.Passed},
		"the beginning of a name":    {[]receipt.Gate{passed}, "ton", receipt.Refused},
		"the name in another case":   {[]receipt.Gate{passed}, "Tone", receipt.Refused},
		"a name with a blank behind": {[]receipt.Gate{passed}, "tone ", receipt.Refused},
	} {
		c := claim(text)
		c.Gates = row.gates
		if slices.ContainsFunc(c.Gates, func(g receipt.Gate) bool { return g.Mode != "advisory" && g.Verdict != receipt.GatePassed }) {
			c.Degraded = []string{"tone"}
		}
		want := receipt.GateDemand{Name: row.want}
		if name, digest, exactly := strings.Cut(row.want, "="); exactly {
			want = receipt.GateDemand{Name: name, Digest: digest}
		}
		got := receipt.Verify(receipt.Bytes([]byte(text)), issue(t, key, c), trust, receipt.Demand{Degraded: true, Gates: []receipt.GateDemand{want}})
		if got.Verdict != row.verdict || got.Verdict == receipt.Refused && got.Field != "gates" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestOtherPurpose: what the key has signed for something else is no receipt.
func TestOtherPurpose(t *testing.T) {
	key, trust := pair(t, 1)
	good := issue(t, key, claim("owls"))
	for _, as := range []signatures.Purpose{"application/vnd.capstan.schedule-certificate+json", "", receipt.PayloadType + " "} {
		sealed, err := signatures.Seal(key, as, opened(t, good))
		if err != nil {
			t.Fatal(err)
		}
		want(t, string(as), receipt.Verify(receipt.Bytes([]byte("owls")), sealed, trust, receipt.Demand{}), receipt.Refused, "payloadType")
		relabelled := bytes.Replace(sealed, []byte(`"payloadType":"`+string(as)+`"`), []byte(`"payloadType":"`+string(receipt.PayloadType)+`"`), 1)
		want(t, string(as)+" called a receipt", receipt.Verify(receipt.Bytes([]byte("owls")), relabelled, trust, receipt.Demand{}), receipt.Refused, "signatures[0].sig")
	}
}
