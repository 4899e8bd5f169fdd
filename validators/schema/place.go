package schema

import (
	"cmp"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// A step leads from an object or array to a value in it.
type step struct {
	name  string
	index int // from 0; negative where the step is a name
}

// pathOf writes the way to a value as a JSON path.
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
