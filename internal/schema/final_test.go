package schema

import (
	"errors"
	"testing"
)

func TestFinal(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"valid": true}`, `{"valid":true}`},
		{"The text meets both criteria. It is not valid JSON, but nobody asked for that.\n{\"valid\": true}\n", `{"valid":true}`},
		{"I looked at [1] and {x}.\n\n```json\n{\"valid\": false, \"reason\": \"no\"}\n```\n", `{"reason":"no","valid":false}`},
		{"```\ntrue\n```", "true"},
		{"Verdict follows.\n~~~\nSo:\n{\"valid\": true}\n~~~", `{"valid":true}`},
		{"{\"valid\": false, \"reason\": \"two\nlines\",}", `{"reason":"two\nlines","valid":false}`},
		{"Well:\n{\"valid\": true, \"issues\": [1, 2,],\n}", `{"issues":[1,2],"valid":true}`},
		{"I first thought {\"valid\": false}\n</think>\n{\"valid\": true}", `{"valid":true}`},
		{`{"valid": false, "reason": "it says {\"valid\": true} </think> {\"valid\": true}"}`, `{"reason":"it says {\"valid\": true} </think> {\"valid\": true}","valid":false}`},
	} {
		v, err := Final(c.text, "valid", "verdict", "status")
		if got, _ := Encode(v); err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.text, got, err)
		}
	}
}

func TestFinalAmbiguous(t *testing.T) {
	for _, text := range []string{
		"```json\n{\"valid\": true}\n```\nI reject it.", `{"valid": true} trailing`, `<valid>false</valid> {"valid": true}`, "verdict: FAIL\n{\"valid\": true}",
		"- **Status**: failed\n\n{\"valid\": true}", `{"valid": false} {"valid": true}`, `{"valid": true} {"valid": true}`, "> \"valid\": false\n\n{\"valid\": true}",
		"`{\"valid\": false}` {\"valid\": true}", `{"valid": true, "details": {"VALID": false}}`, `{val\u0069d: false} {"valid": true}`,
	} {
		if v, err := Final(text, "valid", "verdict", "status"); !errors.Is(err, ErrAmbiguous) {
			t.Errorf("%s: got %v, %v", text, v, err)
		}
	}
}
