// Command benefit measures the benefit of gates. It counts the bad texts that a program releases.
// The setups are: no gates, one judge, computed gates, and all gates with retries.
//
//	cd bench && go run ./benefit            # prints the table
//	cd bench && go run ./benefit -update    # also writes it into the documents
//
// The engine and the gates are real. The model and the judge are simulated. The model fills in a
// right text of its task or plants a fault in it, so the quality of each text is known. [Rates]
// has the error rates of the model and the judge, and the caption of the table states them. The
// same seed gives the same table.
//
// Begin with run.go, then task.go and world.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benefit:", err)
		os.Exit(1)
	}
}

// documents contain the table between [begin] and [end]. The paths are relative
// to the module.
var documents = []string{"../docs/explanation/performance.md", "../README.md"}

func command(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("benefit", flag.ContinueOnError)
	rows := flags.Int("rows", fullRows, "texts of each task and each set-up")
	update := flags.Bool("update", false, "write the table into the documents that have its markers")
	details := flags.Bool("details", false, "print each task, and the faults that gates passed")
	if err := flags.Parse(args); err != nil {
		return nil //nolint:nilerr // flag has printed it
	}
	if *rows < 1 {
		return fmt.Errorf("-rows must be at least 1, not %d", *rows)
	}
	tasks, err := readTasks()
	if err != nil {
		return err
	}
	counts, err := measured(ctx, tasks, *rows, stated)
	if err != nil {
		return err
	}
	table := tableOf(counts, *rows)
	fmt.Fprint(out, table)
	if *details {
		printDetails(out, counts)
	}
	if !*update {
		return nil
	}
	for _, file := range documents {
		if err := write(file, table); err != nil {
			return err
		}
	}
	return nil
}
