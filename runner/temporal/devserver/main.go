// Command devserver is a Temporal server for development on one machine, for
// users who cannot download Temporal's own (`temporal server start-dev`). It
// prints its address. Without a file, its data is lost when it ends.
//
//	go run ./runner/temporal/devserver
//	go run ./runner/temporal/devserver -address 127.0.0.1:7233 -file temporal.db
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed61713e19/capstan/runner/temporal/devserver/server"
)

func main() {
	address := flag.String("address", "127.0.0.1:0", "where it listens, host:port; port 0 is one that is free")
	file := flag.String("file", "", "the SQLite file that it keeps what it knows in; without one nothing is kept")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *address, *file); err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, address, file string) error {
	if file == "" {
		dir, err := os.MkdirTemp("", "devserver")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "temporal.db")
	}
	s, err := server.Start(address, file)
	if err != nil {
		return err
	}
	fmt.Printf("address %s\nnamespace %s\n", s.Address, server.Namespace)
	<-ctx.Done()
	return s.Stop()
}
