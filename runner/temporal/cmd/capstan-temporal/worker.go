package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/worker"

	"github.com/seed61713e19/capstan/runner/temporal"
)

// logger passes on the warnings and errors of the SDK.
type logger struct{}

func (logger) Debug(string, ...any)             {}
func (logger) Info(string, ...any)              {}
func (logger) Warn(msg string, keyvals ...any)  { slog.Warn(msg, keyvals...) }
func (logger) Error(msg string, keyvals ...any) { slog.Error(msg, keyvals...) }

func (c *cluster) worker() *cobra.Command {
	var parallel int
	var search, effectsOnly bool
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run cascades and make their effects, until it is interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opened, err := c.open()
			if err != nil {
				return err
			}
			defer opened.close()
			crew, err := c.crew(opened)
			if err != nil {
				return err
			}
			crew.Search = search
			if c.telemetry != nil {
				crew.Sink = c.telemetry
			}
			t, err := c.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer t.Close()
			w := worker.New(t, c.queue, worker.Options{MaxConcurrentActivityExecutionSize: parallel, DeadlockDetectionTimeout: temporal.StuckAfter})
			if effectsOnly {
				crew.RegisterEffects(w)
			} else {
				crew.Register(w)
			}
			if err := w.Start(); err != nil {
				return connection{c.advise(err)}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "worker of %s at %s, queue %s\n", c.namespace, c.address, c.queue)
			if !effectsOnly {
				crew.Watch(cmd.Context(), t, func(err error) { slog.Warn(err.Error()) })
			}
			<-cmd.Context().Done()
			w.Stop()
			return nil
		},
	}
	cmd.Flags().IntVar(&parallel, "parallel", 64, "effects at work at a time")
	cmd.Flags().BoolVar(&search, "search-attributes", false, "set CapstanCascade, CapstanStatus and CapstanPhase, which the namespace must know")
	cmd.Flags().BoolVar(&effectsOnly, "effects-only", false, "make effects, and run no cascades")
	return cmd
}

// crew returns the configuration of a worker.
func (c *cluster) crew(opened store) (*temporal.Workers, error) {
	r, err := c.runner()
	if err != nil {
		return nil, err
	}
	return temporal.NewWorkers(r, opened.texts, opened.log), nil
}
