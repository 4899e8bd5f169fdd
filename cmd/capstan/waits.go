package main

import (
	"time"

	"github.com/seed61713e19/capstan/runner/model/openai"
)

// waitsEvery is the minimum time between two lines about the waits of one
// endpoint.
const waitsEvery = 10 * time.Second

// waits prints why a call waits before it is repeated.
func (p *progress) waits(w openai.Wait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if at, known := p.waited[w.Host]; known && now.Sub(at) < waitsEvery {
		return
	}
	if p.waited == nil {
		p.waited = map[string]time.Time{}
	}
	p.waited[w.Host] = now
	d := max(w.For.Round(100*time.Millisecond), 100*time.Millisecond)
	switch {
	case w.Quota:
		p.line("  requests_per_minute of %s: calls wait %s", w.Host, d)
		return
	case w.Limited:
		p.line("  %s limits the rate: calls wait %s", w.Host, d)
		return
	}
	p.line("  %s did not answer: asking again in %s", w.Host, d)
}
