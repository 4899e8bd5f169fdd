package syntax

import (
	"testing"

	"gopkg.in/yaml.v3"
)

// TestScalarOutsideFile checks that a node outside the lines of the file has
// no positions.
func TestScalarOutsideFile(t *testing.T) {
	for _, line := range []int{-1, 0, 2, 100} {
		s := newScalar(New("x", []byte("key: value")), &yaml.Node{Kind: yaml.ScalarNode, Value: "value", Line: line, Column: 6})
		if len(s.places) > 0 {
			t.Errorf("line %d: %v", line, s.places)
		}
	}
}
