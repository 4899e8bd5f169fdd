package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestUntilInterrupted checks that the first interrupt ends a derived context,
// with the interrupt as the cause.
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
		t.Skip(err) // some systems cannot send an interrupt
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !strings.Contains(cause.Error(), "interrupt") {
		t.Errorf("got %v", cause)
	}
}
