//go:build !linux

package journal

// stop is used only by [TestSleeperIsTakenOver], on Linux.
func stop() { panic("not on this system") }
