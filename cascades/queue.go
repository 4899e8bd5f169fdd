package cascades

import "strings"

// inQueue is what the name of a task queue is made of, which goes to a cluster as it is.
const inQueue = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

// queue reads the queue that a phase or a tool names.
func (p *parser) queue(o *object) string {
	n := o.get("queue")
	if n == nil {
		return ""
	}
	name, ok := p.text(n, "queue")
	if ok && (name == "" || len(name) > 64 || strings.Trim(name, inQueue) != "") {
		p.report(n, CodeValue, "queue must be 1 to 64 letters, digits, _, . and -, not %q", name)
		return ""
	}
	return name
}

// Queue is the task queue of those who make an effect on a cluster: what the phase
// says that it is of, in the file of at where that is known, else what the phase of
// the cascade itself does within which that runs. It is "" for any worker.
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

// named is the phase of that name, in a group too, nil for none.
func (c *Cascade) named(name string) *Phase {
	for _, p := range c.EveryPhase() {
		if p.Name == name {
			return p
		}
	}
	return nil
}
