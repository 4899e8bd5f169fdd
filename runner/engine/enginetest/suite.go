// Package enginetest is a test suite for hosts of the engine, including your own. [Run]
// and [RunDurable] run about a hundred cascades with scripted models on a host, and compare
// the events and results. RunDurable also interrupts each run at every effect and checks
// that it ends in the same way:
//
//	func TestHost(t *testing.T) {
//		enginetest.Run(t, func(testing.TB, *cascades.Cascade) enginetest.Start {
//			return func(world engine.Host, run func(engine.Host)) { run(newHost(world)) }
//		})
//	}
package enginetest

import (
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A NewHost prepares the host under test for one run of a cascade. The name of the run is
// "run".
type NewHost func(tb testing.TB, c *cascades.Cascade) Start

// A Start starts that run, or restarts it. It must call run with the host, in any
// goroutine, and return after run. The host must make its effects by world and send its
// events to world's Emit. A run that resumes from a state gets a new Start.
type Start func(world engine.Host, run func(engine.Host))

// Run checks that a host produces every transcript, and that a run can be resumed elsewhere
// at every possible place. It is for hosts without storage; for others use [RunDurable].
func Run(t *testing.T, host NewHost) { storytest.Run(t, host.story) }

// RunDurable is [Run] for a host that stores the results of effects. It also ends the
// process at each effect in turn and checks that the resumed run ends in the same way. Only
// pure effects may be repeated.
func RunDurable(t *testing.T, host NewHost) { storytest.RunDurable(t, host.story) }

func (host NewHost) story(tb testing.TB, s *storytest.Story) storytest.Start {
	return storytest.Start(host(tb, s.Cascade))
}
