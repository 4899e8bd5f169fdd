package receipts_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/signatures"
)

// opened is the content of a receipt.
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

// TestRespelt: a receipt in another spelling is invalid, even if JSON readers read the
// same.
func TestRespelt(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	good := string(issue(t, key, claim(text)))
	line := strings.TrimSuffix(good, "\n")
	payload, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"payload":`), `,"payloadType"`)
	ending := func(with string) string { return strings.TrimSuffix(line, "}") + with }
	for name, row := range map[string]struct{ receipt, verdict string }{
		"keys in another order":      {`{"payloadType"` + strings.TrimSuffix(rest, "}") + `,"payload":` + payload + "}", receipts.Refused},
		"a key twice":                {ending(`,"payload":` + payload + "}"), receipts.CannotTell},
		"a key twice, escaped":       {ending(`,"p\u0061yload":` + payload + "}"), receipts.CannotTell},
		"a key twice, another case":  {ending(`,"PAYLOAD":` + payload + "}"), receipts.Refused},
		"a key in another case":      {strings.Replace(line, `"payload"`, `"Payload"`, 1), receipts.CannotTell},
		"an escaped key":             {strings.Replace(line, `"payload"`, `"p\u0061yload"`, 1), receipts.Refused},
		"an escaped value":           {strings.Replace(line, "vnd.in-toto", `vnd.in\u002dtoto`, 1), receipts.Refused},
		"an escaped slash":           {strings.Replace(line, "application/", `application\/`, 1), receipts.Refused},
		"a blank":                    {strings.Replace(line, `,"payloadType"`, ` ,"payloadType"`, 1), receipts.Refused},
		"a blank behind":             {line + " ", receipts.Refused},
		"CR LF behind":               {line + "\r\n", receipts.Refused},
		"a NUL behind":               {good + "\x00", receipts.CannotTell},
		"more behind":                {good + "{}", receipts.CannotTell},
		"a byte order mark":          {"\xef\xbb\xbf" + good, receipts.CannotTell},
		"UTF-16":                     {strings.Join(strings.Split(good, ""), "\x00"), receipts.CannotTell},
		"null for the signatures":    {line[:strings.Index(line, `"signatures":`)] + `"signatures":null}` + "\n", receipts.Refused},
		"an object for them":         {line[:strings.Index(line, `"signatures":`)] + `"signatures":{}}`, receipts.CannotTell},
		"null behind the signature":  {strings.TrimSuffix(line, "]}") + ",null]}", receipts.CannotTell},
		"a field in the signature":   {strings.TrimSuffix(line, "}]}") + `,"x":1}]}`, receipts.CannotTell},
		"a list around it":           {"[" + line + "]", receipts.CannotTell},
		"null":                       {"null", receipts.CannotTell},
		"an empty object":            {"{}", receipts.CannotTell},
		"deeper than anybody reads":  {strings.Repeat("[", 1<<20), receipts.CannotTell},
		"base64 of the URL alphabet": {strings.Replace(line, payload, strings.NewReplacer("+", "-", "/", "_").Replace(payload), 1) + " ", receipts.Refused},
	} {
		for _, got := range []receipts.Report{
			receipts.Verify(receipts.Bytes([]byte(text)), []byte(row.receipt), trust, receipts.Demand{}),
			receipts.Verify(receipts.Bytes([]byte("another")), []byte(row.receipt), trust, receipts.Demand{Degraded: true}),
		} {
			if got.Verdict != row.verdict || got.Field == "" || got.Reason == "" || len(got.Reason) > 500 || len(got.Checked) > 0 || got.Claim != nil {
				t.Errorf("%s: %+v; want %s", name, got, row.verdict)
			}
		}
	}
}

// TestSignedAndRespelt: a validly signed statement is rejected if it is in another
// spelling, repeats a key, or has content that capstan never writes.
func TestSignedAndRespelt(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	payload := string(opened(t, issue(t, key, claim(text))))
	change := func(old, new string) string {
		if !strings.Contains(payload, old) {
			t.Errorf("%q is not in %s", old, payload)
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
		sealed, err := signatures.Seal(key, receipts.PayloadType, []byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		got := receipts.Verify(receipts.Bytes([]byte(text)), sealed, trust, receipts.Demand{Degraded: true})
		if got.Verdict == receipts.Passed || got.Field == "" || got.Reason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestContradictions: a signed but impossible claim is rejected, with its first
// impossible field.
func TestContradictions(t *testing.T) {
	const text = "A post on owls."
	key, trust := pair(t, 1)
	texts := func(c *receipts.Claim) {
		reason := "too long"
		c.Inputs = map[string]string{"topic": signatures.Digest([]byte(`"owls"`)), "n": signatures.Digest([]byte("12345678901234567890"))}
		c.Gates[1].Reason = signatures.Digest([]byte(reason))
		c.Texts = &receipts.Texts{Text: text, Inputs: map[string]string{"topic": `"owls"`, "n": "12345678901234567890"}, Reasons: map[string]string{c.Gates[1].Path: reason}}
	}
	strength := func(change func(*receipts.Strength)) func(*receipts.Claim) {
		return func(c *receipts.Claim) { change(c.Gates[0].Strength) }
	}
	for name, row := range map[string]struct {
		field  string
		change func(*receipts.Claim)
	}{
		"nothing":                   {"", func(*receipts.Claim) {}},
		"texts that are its":        {"", texts},
		"fewer texts":               {"", func(c *receipts.Claim) { texts(c); c.Texts.Inputs, c.Texts.Reasons = nil, nil }},
		"an input spelt otherwise":  {"", func(c *receipts.Claim) { texts(c); c.Texts.Inputs["topic"] = ` "\u006fwls"` }},
		"another text":              {"texts.text", func(c *receipts.Claim) { texts(c); c.Texts.Text += " Really." }},
		"another input":             {"texts.inputs.topic", func(c *receipts.Claim) { texts(c); c.Texts.Inputs["topic"] = `"cats"` }},
		"an input more":             {"texts.inputs.more", func(c *receipts.Claim) { texts(c); c.Texts.Inputs["more"] = `1` }},
		"an input that is no JSON":  {"texts.inputs.topic", func(c *receipts.Claim) { texts(c); c.Texts.Inputs["topic"] = `owls` }},
		"another reason":            {"texts.reasons.draft/attempt[2]/post[1]", func(c *receipts.Claim) { texts(c); c.Texts.Reasons["draft/attempt[2]/post[1]"] = "too short" }},
		"a reason more":             {"texts.reasons.draft/attempt[2]/post[9]", func(c *receipts.Claim) { texts(c); c.Texts.Reasons["draft/attempt[2]/post[9]"] = "why" }},
		"released as it was made":   {"", func(c *receipts.Claim) { c.Released = made }},
		"released by another clock": {"", func(c *receipts.Claim) { c.Released = made.Add(time.Minute) }},
		"released later":            {"predicate.timeVerified", func(c *receipts.Claim) { c.Released = made.Add(time.Hour) }},
		"attempt 1":                 {"", func(c *receipts.Claim) { c.Attempt, c.Path = 1, "draft/attempt[1]" }},
		"a path of no attempt":      {"", func(c *receipts.Claim) { c.Attempt, c.Path = 1, "book" }},
		"another attempt":           {"attempt", func(c *receipts.Claim) { c.Attempt = 1 }},
		"attempt 0":                 {"attempt", func(c *receipts.Claim) { c.Attempt = 0 }},
		"attempt -5":                {"attempt", func(c *receipts.Claim) { c.Attempt = -5 }},
		"a gate that is x":          {"gates[1].digest", func(c *receipts.Claim) { c.Gates[1].Digest = "x" }},
		"a gate that is nothing":    {"gates[0].digest", func(c *receipts.Claim) { c.Gates[0].Digest = "" }},
		"a reason that is x":        {"gates[1].reason", func(c *receipts.Claim) { c.Gates[1].Reason = "x" }},
		"an input that is x":        {"inputs.topic", func(c *receipts.Claim) { c.Inputs["topic"] = "sha256:ABC" }},
		"no program's digest":       {"", func(c *receipts.Claim) { c.Capstan.Digest = "" }},
		"a program that is x":       {"capstan.digest", func(c *receipts.Claim) { c.Capstan.Digest = "x" }},
		"a file that is x": {"cascade.files.post.yaml", func(c *receipts.Claim) {
			c.Cascade.Files["post.yaml"] = "x"
			c.Cascade.Digest, _ = receipts.PolicyDigest(c.Cascade.Files)
		}},
		"a share above 1":        {"gates[0].strength.false_pass", strength(func(s *receipts.Strength) { s.FalsePass = [2]float64{0, 2} })},
		"a share below 0":        {"gates[0].strength.false_block", strength(func(s *receipts.Strength) { s.FalseBlock = [2]float64{-1, 1} })},
		"a share the wrong way":  {"gates[0].strength.false_pass", strength(func(s *receipts.Strength) { s.FalsePass = [2]float64{1, 0} })},
		"of -1 bad texts":        {"gates[0].strength.bad", strength(func(s *receipts.Strength) { s.Bad = -1 })},
		"of -1 good texts":       {"gates[0].strength.good", strength(func(s *receipts.Strength) { s.Good = -1 })},
		"measured on nothing":    {"", strength(func(s *receipts.Strength) { s.FalsePass, s.Bad = [2]float64{0, 1}, 0 })},
		"narrow on nothing":      {"gates[0].strength.false_block", strength(func(s *receipts.Strength) { s.FalseBlock, s.Good = [2]float64{0, 0.01}, 0 })},
		"evidence that is x":     {"gates[0].strength.evidence", strength(func(s *receipts.Strength) { s.Evidence = "x" })},
		"in shadow":              {"", func(c *receipts.Claim) { c.Shadow = []receipts.Gate{c.Gates[1]}; c.Shadow[0].Mode = "shadow" }},
		"in shadow and blocking": {"shadow[0].mode", func(c *receipts.Claim) { c.Shadow = []receipts.Gate{c.Gates[0]}; c.Shadow[0].Mode = "blocking" }},
		"a verdict of no word":   {"gates[1].verdict", func(c *receipts.Claim) { c.Gates[1].Verdict = "maybe" }},
		"a verdict in shadow that errs": {"", func(c *receipts.Claim) {
			c.Shadow = []receipts.Gate{c.Gates[1]}
			c.Shadow[0].Mode, c.Shadow[0].Verdict = "shadow", receipts.GateErred
		}},
		"degraded by what has passed":  {"degraded[0]", func(c *receipts.Claim) { c.Degraded = []string{"long_enough"} }},
		"degraded by what is advisory": {"degraded[0]", func(c *receipts.Claim) { c.Degraded = []string{"tone"} }},
		"degraded by nothing": {"degraded[1]", func(c *receipts.Claim) {
			c.Gates[0].Verdict, c.Degraded = receipts.GateRefused, []string{"long_enough", "facts"}
		}},
		"degraded by another": {"gates[0].verdict", func(c *receipts.Claim) {
			c.Gates[0].Verdict, c.Degraded = receipts.GateRefused, []string{"tone"}
		}},
	} {
		c := claim(text)
		row.change(&c)
		verdict := receipts.Refused
		if row.field == "" {
			verdict = receipts.Passed
		}
		want(t, name, receipts.Verify(receipts.Bytes([]byte(text)), issue(t, key, c), trust, receipts.Demand{}), verdict, row.field)
	}
}

// TestEveryGateOfTheName: a demanded name means all gates of that name that can reject
// the text, and a demanded digest exactly one gate.
func TestEveryGateOfTheName(t *testing.T) {
	const text = "owls"
	key, trust := pair(t, 1)
	digest := func(n string) string { return signatures.Digest([]byte(n)) }
	gate := func(n, mode, verdict string) receipts.Gate {
		return receipts.Gate{Name: "tone", Path: "draft/attempt[2]/post[" + n + "]", Digest: digest(n), Moment: "post", Mode: mode, Verdict: verdict}
	}
	passed, refused := gate("0", "blocking", receipts.GatePassed), gate("1", "retry", receipts.GateRefused)
	before := receipts.Gate{Name: "tone", Path: "draft/pre[0]", Digest: digest("2"), Moment: "pre", Mode: "blocking", Verdict: receipts.GatePassed}
	for name, row := range map[string]struct {
		gates   []receipts.Gate
		want    string
		verdict string
	}{
		"one of two refused":         {[]receipts.Gate{passed, refused}, "tone", receipts.Refused},
		"the first refused":          {[]receipts.Gate{refused, passed}, "tone", receipts.Refused},
		"the refused is another":     {[]receipts.Gate{passed, refused}, "tone=" + digest("0"), receipts.Refused},
		"an advisory one refused":    {[]receipts.Gate{passed, gate("1", "advisory", receipts.GateRefused)}, "tone", receipts.Passed},
		"both passed":                {[]receipts.Gate{passed, gate("1", "retry", receipts.GatePassed)}, "tone", receipts.Passed},
		"one of both is that":        {[]receipts.Gate{passed, gate("1", "retry", receipts.GatePassed)}, "tone=" + digest("1"), receipts.Passed},
		"none of both is that":       {[]receipts.Gate{passed, gate("1", "retry", receipts.GatePassed)}, "tone=" + digest("2"), receipts.Refused},
		"that is the advisory one":   {[]receipts.Gate{passed, gate("1", "advisory", receipts.GatePassed)}, "tone=" + digest("1"), receipts.Refused},
		"skipped":                    {[]receipts.Gate{gate("0", "blocking", receipts.GateSkipped)}, "tone", receipts.Refused},
		"of the instructions":        {[]receipts.Gate{before}, "tone", receipts.Refused},
		"that is of instructions":    {[]receipts.Gate{before, passed}, "tone=" + digest("2"), receipts.Refused},
		"of both":                    {[]receipts.Gate{before, passed}, "tone", receipts.Passed},
		"the beginning of a name":    {[]receipts.Gate{passed}, "ton", receipts.Refused},
		"the name in another case":   {[]receipts.Gate{passed}, "Tone", receipts.Refused},
		"a name with a blank behind": {[]receipts.Gate{passed}, "tone ", receipts.Refused},
	} {
		c := claim(text)
		c.Gates = row.gates
		if slices.ContainsFunc(c.Gates, func(g receipts.Gate) bool { return g.Mode != "advisory" && g.Verdict != receipts.GatePassed }) {
			c.Degraded = []string{"tone"}
		}
		want := signatures.GateDemand{Name: row.want}
		if name, digest, exactly := strings.Cut(row.want, "="); exactly {
			want = signatures.GateDemand{Name: name, Digest: digest}
		}
		got := receipts.Verify(receipts.Bytes([]byte(text)), issue(t, key, c), trust, receipts.Demand{Degraded: true, Gates: []signatures.GateDemand{want}})
		if got.Verdict != row.verdict || got.Verdict == receipts.Refused && got.Field != "gates" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestOtherPurpose: a signature for another purpose is not a receipt.
func TestOtherPurpose(t *testing.T) {
	key, trust := pair(t, 1)
	good := issue(t, key, claim("owls"))
	for _, as := range []signatures.Purpose{"application/vnd.capstan.schedule-certificate+json", "", receipts.PayloadType + " "} {
		sealed, err := signatures.Seal(key, as, opened(t, good))
		if err != nil {
			t.Fatal(err)
		}
		want(t, string(as), receipts.Verify(receipts.Bytes([]byte("owls")), sealed, trust, receipts.Demand{}), receipts.Refused, "payloadType")
		relabelled := bytes.Replace(sealed, []byte(`"payloadType":"`+string(as)+`"`), []byte(`"payloadType":"`+string(receipts.PayloadType)+`"`), 1)
		want(t, string(as)+" called a receipt", receipts.Verify(receipts.Bytes([]byte("owls")), relabelled, trust, receipts.Demand{}), receipts.Refused, "signatures[0].sig")
	}
}
