// Command bench compares Capstan with other ways to run a gated conversation with a model in Go.
// A bare go-openai call and net/http run without checks. A handwritten loop, Eino, langchaingo
// and Genkit run with checks; the frameworks are used like in their documentation.
//
//	cd bench && go run . [-tls]
//
// All systems send the same texts to the same model server over a pool of 128 connections; a test
// checks the texts. The server is a separate process and answers immediately. Each system is a
// process too. The rounds of the systems alternate, so other load on the machine affects all
// alike. The table shows medians over the rounds: the time of a turn, divided by the time of the
// bare call in the same round, and the same for processor time.
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

// command runs the process that its first argument names: the model, one
// system, or the measurement.
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
		return nil //nolint:nilerr // flag has reported it
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
	if p.systems, err = selected(*only); err != nil {
		return err
	}
	return p.run(ctx, os.Stdout, os.Stderr)
}
