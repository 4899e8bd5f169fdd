package builtins

import "testing"

// TestSimpleValidatorPlaceholders checks that a placeholder may extend over several lines.
func TestSimpleValidatorPlaceholders(t *testing.T) {
	judgeKept(t, simpleValidator, []keptCase{
		{"To be\ndetermined", nil, nil, "only a placeholder"},
		{"lorem\tipsum", nil, nil, "only a placeholder"},
		{"To be determined\nby the council", nil, nil, ""},
	})
}
