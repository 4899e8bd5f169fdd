package edit

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain sets a high GOGC, because the tests retain little of their input.
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
