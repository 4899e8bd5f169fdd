package documents

import (
	"testing"

	"gopkg.in/yaml.v3"
)

// A node that stands in no line of the file has no places, and nothing is looked for.
func TestScalarThatIsNowhere(t *testing.T) {
	for _, line := range []int{-1, 0, 2, 100} {
		s := NewScalar([]string{"key: value"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "value", Line: line, Column: 6})
		if len(s.places) > 0 {
			t.Errorf("line %d: %v", line, s.places)
		}
	}
}
