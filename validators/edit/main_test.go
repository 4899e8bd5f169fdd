package edit

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has the heap collected seldom: of what a file is read into little lasts.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	var err error
	if desks, err = os.MkdirTemp("", "desks-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(desks)
	os.Exit(code)
}

// desks is where the desks of all tests are.
var desks string
