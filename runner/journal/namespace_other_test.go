//go:build !linux

package journal

// stop is asked for by [TestSleeperIsTakenOver] alone, which is Linux's.
func stop() { panic("not on this system") }
