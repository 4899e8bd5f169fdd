//go:build !linux

package query

// resident returns false, because it has no implementation for the system.
func resident() (int64, bool) { return 0, false }
