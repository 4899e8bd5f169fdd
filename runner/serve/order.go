package serve

// An Order is a wish for a run.
type Order struct {
	Cascade string         // the name under which the operator offers it
	Input   map[string]any // plain values
	Model   string         // one of those offered; "" is the cascade's own
	RunID   string         // "" gives it a new name
	Watched bool           // somebody is about to look at the run: its models stream from the first call on
}
