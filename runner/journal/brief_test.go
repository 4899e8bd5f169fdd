package journal

import (
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schema"
)

// TestBrief holds what is read of rows against what decoding them gives.
func TestBrief(t *testing.T) {
	for _, raw := range []string{
		`{"verdict":{"path":"a","phase":"p","attempt":2,"turn":1,"moment":"post","validator":"v","mode":"retry","valid":null,"reason":"a \"quoted\" é\n","error":"broke"}}`,
		`{"verdict":{"valid":false,"reason":"","error":null,"score":0.25,"issues":[{"check":"a,b}","severity":"error"}],"details":{"valid":true}}}`,
		`{"verdict":{"valid":true,"score":null}}`,
	} {
		var b body
		if err := schema.Unmarshal([]byte(raw), &b); err != nil {
			t.Fatal(err)
		}
		read := brief{words: map[string]string{}}
		got, broke := read.verdict(&logged{raw: []byte(raw)})
		want := *b.Verdict
		if broke != (want.Error != nil) || read.bad {
			t.Errorf("%s: broke %v, bad %v", raw, broke, read.bad)
		}
		want.Path, want.Error, want.Issues, want.Details = "", nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", raw, got, want)
		}
	}
	raw := `{"model":"m","phase":"p","attempt":3,"turn":1,"response":{"text":"t\n","tool_calls":[{"id":"1","name":"n","arguments":{"usage":{"model_calls":9}}}],"model":"m-1","usage":{"model_calls":1,"input_tokens":2,"output_tokens":3,"cached_tokens":4,"cache_write_tokens":1,"reasoning_tokens":5,"cost_usd":1e-05,"estimated":true}}}`
	var c came
	if err := schema.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	read := brief{words: map[string]string{}}
	got := read.answered(&logged{raw: []byte(raw)})
	if want := (answered{model: c.Model, phase: c.Phase, attempt: c.Attempt, came: true, by: c.Response.Model, text: textName(c.Response.Text), usage: c.Response.Usage}); got != want || read.bad {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What does not read is said to be so.
func TestBriefOfDamaged(t *testing.T) {
	for _, raw := range []string{
		``, `[]`, `{`, `{"verdict"`, `{"verdict":}`, `{"verdict":null}`, `{"other":1}`, `{"verdict":{"attempt":"x"}}`, `{"verdict":{"valid":1}}`, `{"verdict":{"reason":{"a":"b"}}}`,
		`{"verdict":{"score":"high"}}`, `{"verdict":{"valid":true}},`, `{"verdict":{"valid":true},}`, `{"verdict":{"valid":true "reason":""}}`,
	} {
		read := brief{words: map[string]string{}}
		if v, _ := read.verdict(&logged{kind: string(event.VerdictGiven), raw: []byte(raw)}); !read.bad {
			t.Errorf("%s reads as %+v", raw, v)
		}
	}
}
