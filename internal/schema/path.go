package schema

import (
	"cmp"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// A step leads from an object or array to one of its values.
type step struct {
	name  string
	index int // from 0; negative for a name
}

// pathOf returns the JSON path of a list of steps.
func pathOf(steps []step) string {
	path := []byte("$")
	for _, s := range steps {
		if s.index >= 0 {
			path = jsonvalue.AppendIndex(path, s.index)
		} else {
			path = jsonvalue.AppendName(path, s.name)
		}
	}
	return string(path)
}

func compareSteps(a, b step) int {
	return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
}
