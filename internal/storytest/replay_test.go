package storytest

import (
	"fmt"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// Replayer returns a host whose effects all come from the journal. An effect
// that is missing there is an error. The inner host provides branches, time and
// events, and makes no effects.
func Replayer(inner engine.Host, j *Journal) engine.Host {
	unrecorded := func(at event.Path, _ bool, _ func() error) error { return fmt.Errorf("effect %s was not recorded", at) }
	return &Recorder{Host: via{inner, unrecorded}, Journal: j}
}
