package testcases

import (
	"strings"
	"testing"
)

// TestParamsAreFrozen checks that the parameters of a request are recorded, and that a change is
// a difference.
func TestParamsAreFrozen(t *testing.T) {
	e := &effect{at: "p/attempt[1]/turn[0]/model", kind: callKind, request: &request{model: "m", params: `{"temperature":0}`}}
	loaded, err := new(loader).call(newWriter().call(e))
	if err != nil || loaded.request.params != e.request.params {
		t.Errorf("got %+v, %v", loaded.request, err)
	}
	if words := conversation(e.request, nil); !strings.Contains(words, `params: {"temperature":0}`) {
		t.Errorf("shown as %s", words)
	}
}
