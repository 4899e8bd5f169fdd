package cascades

import (
	"strings"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
)

// inQueue lists the characters that are allowed in the name of a task queue.
const inQueue = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

// queue reads the name of the task queue of a phase or a tool.
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

// Queue returns the task queue for an effect on a cluster. It is the queue of the phase in the
// file of at. If that phase names no queue, it is the queue of the phase within, which runs
// the nested cascade. "" means any worker.
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

// named returns the phase with a name, or nil. It also searches the phases of groups.
func (c *Cascade) named(name string) *Phase {
	for _, p := range c.EveryPhase() {
		if p.Name == name {
			return p
		}
	}
	return nil
}
