package enginetest_test

import (
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

// A passing host forwards everything.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("internal/storytest runs the same transcripts")
	}
	enginetest.Run(t, func(testing.TB, *cascades.Cascade) enginetest.Start {
		return func(world engine.Host, run func(engine.Host)) { run(world) }
	})
}
