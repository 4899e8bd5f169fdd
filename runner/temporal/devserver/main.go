// Command devserver is a Temporal server for trying things out on one machine:
// for those who cannot download Temporal's own (`temporal server start-dev`). It
// keeps nothing, and prints where it is.
//
//	go run ./runner/temporal/devserver
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed61713e19/capstan/runner/temporal/devserver/server"
)

func main() {
	s := server.New()
	defer s.Stop()
	fmt.Printf("address %s\nnamespace %s\n", s.GetFrontendHostPort(), s.GetDefaultNamespace())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
}
