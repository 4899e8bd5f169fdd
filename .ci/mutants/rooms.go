package main

import (
	"maps"
	"slices"
)

// A room is code and the tests that have to notice when it is wrong.
type room struct {
	files  []string
	suites []suite
}

// A suite is tests of packages, all or those that run matches.
type suite struct {
	run      string
	packages []string
}

var rooms = map[string]room{
	"engine": {
		files:  []string{"runner/engine/*.go"},
		suites: []suite{{".", []string{"./runner/engine/..."}}, {".", []string{"./runner"}}},
	},
	"wards": {
		files:  []string{"wards/*.go"},
		suites: []suite{{".", []string{"./wards"}}, {".", []string{"./runner/engine/..."}}},
	},
	"cascades": {
		files:  []string{"cascades/*.go"},
		suites: []suite{{".", []string{"./cascades/...", "./wards"}}, {"TestMistakes|TestLint", []string{"./cmd/capstan"}}},
	},
	"host": {
		files:  []string{"runner/journal/host.go", "runner/journal/recording.go", "runner/journal/replay.go", "runner/journal/lease.go", "runner/journal/owner.go", "runner/journal/fence.go"},
		suites: []suite{{".", []string{"./runner/journal"}}},
	},
	"writes": {
		files:  []string{"runner/journal/writer.go", "runner/journal/pack.go", "runner/journal/rows.go", "runner/journal/emit.go", "runner/journal/begin.go", "runner/journal/ending.go"},
		suites: []suite{{".", []string{"./runner/journal"}}},
	},
}

func names() []string { return slices.Sorted(maps.Keys(rooms)) }
