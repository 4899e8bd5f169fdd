// Capstan runs cascades: phases of language model work whose texts must pass
// wards before anything downstream may see them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	conceal()
	collectSeldom(os.Getenv)
	// The first interrupt ends the run cleanly; a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	c := &Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ()}
	os.Exit(c.Run(ctx, os.Args[1:]))
}
