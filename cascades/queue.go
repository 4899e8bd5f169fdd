package cascades

import (
	"strings"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
)

// inQueue has the characters of names of task queues.
const inQueue = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

// queue reads the task queue of a phase or a tool.
func (p *parser) queue(o *reader.Object) string {
	n := o.Get("queue")
	if n == nil {
		return ""
	}
	name, ok := p.Text(n, "queue")
	if ok && (name == "" || len(name) > 64 || strings.Trim(name, inQueue) != "") {
		p.Error(n, codes.Value, "queue must be 1 to 64 letters, digits, _, . and -, not %q", name)
		return ""
	}
	return name
}

// Queue returns the task queue of an effect on a cluster: that of the phase in
// the file of at, or else that of the phase of the cascade that runs the other
// one. It returns "" for any worker.
func (c *Cascade) Queue(at *Place, phase, within string) string {
	for _, of := range c.Within() {
		if p := of.named(phase); p != nil && p.Queue != "" && (at == nil || at.File == of.File) {
			return p.Queue
		}
	}
	if p := c.named(within); p != nil {
		return p.Queue
	}
	return ""
}

// named returns the phase with a name, also of a group, or nil.
func (c *Cascade) named(name string) *Phase {
	for _, p := range c.EveryPhase() {
		if p.Name == name {
			return p
		}
	}
	return nil
}
