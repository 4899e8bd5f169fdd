package schema

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// A step leads from an object or array to a value in it.
type step struct {
	name  string
	index int // from 0; negative where the step is a name
}

// pathOf writes the way to a value as a JSON path.
func pathOf(steps []step) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, s := range steps {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case isName(s.name):
			b.WriteString("." + s.name)
		default:
			quoted, _ := json.Marshal(s.name)
			b.WriteString("[" + string(quoted) + "]")
		}
	}
	return b.String()
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

func compareSteps(a, b step) int {
	return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
}
