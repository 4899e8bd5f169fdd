package edit

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has the heap collected seldom: of what a file is read into little lasts.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
