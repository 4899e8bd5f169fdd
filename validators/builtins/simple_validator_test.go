package builtins

import "testing"

// A placeholder on several lines is still a placeholder.
func TestSimpleValidatorPlaceholders(t *testing.T) {
	judgeKept(t, simpleValidator, []keptCase{
		{"To be\ndetermined", nil, nil, "only a placeholder"},
		{"lorem\tipsum", nil, nil, "only a placeholder"},
		{"To be determined\nby the council", nil, nil, ""},
	})
}
