// Command bench holds Capstan against the other ways to have a gated
// conversation with a model in Go: a bare go-openai call and net/http by hand,
// neither of which checks anything, a loop as one writes it by hand, and Eino,
// langchaingo and Genkit, each as its own documents show.
//
//	cd bench && go run . [-tls]
//
// All of them say the same words to the same model server, a process of its own
// that answers at once, over a pool of 128 connections; a test holds that they
// do. Each is a process of its own too and is asked for one round after the
// other, all of them in turn, so that what else the machine does hits every one
// alike. What the table tells is the median, over the rounds, of a system's time
// for a turn by the bare call's time for the same turn in the same round, and
// the same of the processor's time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command is what a process of this program does: by its first argument it is
// the model, one system, or the one that asks them all.
func command(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == modelProcess:
		return serveModel(os.Stdin, os.Stdout, args[1] == "true")
	case len(args) == 4 && args[0] == systemProcess:
		turns, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return serveSystem(ctx, args[1], args[2], turns)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	p := plan{}
	flags.IntVar(&p.rounds, "rounds", 9, "how often each system is asked; the first round is not counted")
	flags.DurationVar(&p.time, "time", 250*time.Millisecond, "how long a system is asked in a round")
	turns := flags.String("turns", "1,10,30", "lengths of a conversation")
	widths := flags.String("at-once", "1,64", "conversations at the same time")
	cores := flags.String("cores", "1,2", "1: the systems on one core and the model on another; 2: all of them on both")
	flags.BoolVar(&p.tls, "tls", false, "ask the model over TLS and HTTP/2")
	only := flags.String("only", "", "systems beside the bare call, as name,name; all of them without it")
	if err := flags.Parse(args); err != nil {
		return nil //nolint:nilerr // flag has told it
	}
	for _, list := range []struct {
		of   string
		into *[]int
	}{{*turns, &p.turns}, {*widths, &p.widths}, {*cores, &p.cores}} {
		for _, word := range strings.Split(list.of, ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no list of numbers from 1", list.of)
			}
			*list.into = append(*list.into, n)
		}
	}
	var err error
	if p.systems, err = chosen(*only); err != nil {
		return err
	}
	return p.run(ctx, os.Stdout, os.Stderr)
}
