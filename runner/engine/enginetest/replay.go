package enginetest

import (
	"fmt"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// Replayer gives a host whose effects all come from the journal: one that is
// not there is an error. Branches, time and events are the inner host's, which
// makes no effect.
func Replayer(inner engine.Host, j *Journal) engine.Host {
	unrecorded := func(at event.Path, _ bool, _ func() error) error { return fmt.Errorf("effect %s was not recorded", at) }
	return &Recorder{Host: via{inner, unrecorded}, Journal: j}
}
