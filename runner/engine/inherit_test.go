package engine

import (
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
)

// TestInherit checks that a nested cascade inherits the inputs of the same name unless it
// gets another value.
func TestInherit(t *testing.T) {
	c := &cascades.Cascade{Inputs: []cascades.Input{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	input := map[string]any{"a": 1}
	inherit(c, input, map[string]any{"a": 2, "b": nil, "d": 3})
	if want := map[string]any{"a": 1, "b": nil}; !reflect.DeepEqual(input, want) {
		t.Errorf("got %v", input)
	}
}
