package cases

import (
	"strings"
	"testing"
)

// What a model is asked with is frozen, and a change of it is a difference.
func TestParamsAreFrozen(t *testing.T) {
	e := &effect{at: "p/attempt[1]/turn[0]/model", kind: callKind, request: &request{model: "m", params: `{"temperature":0}`}}
	frozen, err := new(loader).called("f", new(writer).called(e))
	if err != nil || frozen.request.params != e.request.params {
		t.Errorf("got %+v, %v", frozen.request, err)
	}
	if said := conversation(e.request, nil); !strings.Contains(said, `params: {"temperature":0}`) {
		t.Errorf("shown as %s", said)
	}
}
