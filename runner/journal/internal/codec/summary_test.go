package codec

import (
	"fmt"
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
)

// A text is named by its digest, also if the row has the name already. Texts of checks
// have no name.
func TestReplyName(t *testing.T) {
	name := fmt.Sprintf("%x", DigestOf([]byte("a text")))
	for raw, want := range map[string]string{
		`{"phase":"p","response":{"text":"a text","usage":{"model_calls":1}}}`: name,
		`{"response":{"text":"#text:` + name + `"}}`:                           name,
		`{"response":{"text":""}}`:                                             "",
		`{"validator":"tone","response":{"text":"a text"}}`:                    "",
		`{"role":"evaluator","response":{"text":"a text"}}`:                    "",
		`{"response":{"text":"#text:no name"}}`:                                fmt.Sprintf("%x", DigestOf([]byte("#text:no name"))),
	} {
		r, err := (&StoredRow{raw: []byte(raw)}).Reply()
		if err != nil || r.Response == nil || r.Response.Text != want {
			t.Errorf("%s: got %+v, %v", raw, r, err)
		}
	}
	if r, err := (&StoredRow{}).Reply(); err != nil || r.Response != nil {
		t.Errorf("a row without JSON: got %+v, %v", r, err)
	}
}

// Damaged JSON is an error.
func TestVerdictOfDamagedRow(t *testing.T) {
	for _, raw := range []string{
		``, `[]`, `{`, `{"verdict"`, `{"verdict":}`, `{"verdict":null}`, `{"other":1}`, `{"verdict":{"attempt":"x"}}`, `{"verdict":{"valid":1}}`, `{"verdict":{"reason":{"a":"b"}}}`,
		`{"verdict":{"score":"high"}}`, `{"verdict":{"valid":true}},`, `{"verdict":{"valid":true},}`, `{"verdict":{"valid":true "reason":""}}`,
	} {
		if v, err := (&StoredRow{Kind: string(event.VerdictGiven), raw: []byte(raw)}).Verdict(); err == nil {
			t.Errorf("%s reads as %+v", raw, v)
		}
	}
}
