package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// What is derived of the context ends with the first interrupt, and says why.
func TestUntilInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(untilInterrupted())
	defer cancel()
	if err := ctx.Err(); err != nil {
		t.Fatal(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Skip(err) // not every system can
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !strings.Contains(cause.Error(), "interrupt") {
		t.Errorf("got %v", cause)
	}
}
