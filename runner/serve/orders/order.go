// Package orders has what may be ordered of runs, an [Order] for a new one and a
// [Change] for one that is made of another, and a [Crew] that does it in this process.
//
// A crew answers as soon as the journal has the run, which then goes on by itself
// (crew.go). Cascades are read when they are ordered, again only where a file is
// another (shelf.go); what models are saying is heard only while somebody looks on
// (drafts.go). A [Desk] takes orders that may come twice, for any such [Runs] (desk.go).
// Nothing here knows of HTTP: package serve is one that gives orders.
package orders

// An Order is a wish for a run.
type Order struct {
	Cascade string         // the name under which the operator offers it
	Input   map[string]any // plain values
	Model   string         // one of those offered; "" is the cascade's own
	RunID   string         // "" gives it a new name
	Watched bool           // somebody is about to look at the run: its models stream from the first call on
}
