package telemetry

// Open counts the runs that have not finished.
func (t *Telemetry) Open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.runs)
}
