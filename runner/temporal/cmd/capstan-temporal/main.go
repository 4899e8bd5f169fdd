// Command capstan-temporal runs cascades on a Temporal cluster.
//
//	capstan-temporal worker --store postgres://…
//	capstan-temporal run post.yaml --store postgres://… --input topic=owls
//	capstan-temporal answer RUN yes
//
// Any number of workers share the runs, on any machines that reach the store.
// The exit statuses are those of capstan.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/internal/providers"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/temporal"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators/capy"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schedule"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// An ended is the exit status of a command whose error is already printed.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// The exit statuses of this command.
const (
	usage  = 2
	broken = 3
)

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cluster
	root := &cobra.Command{Use: "capstan-temporal", Short: "Run cascades on a Temporal cluster", SilenceUsage: true, SilenceErrors: true}
	flags := root.PersistentFlags()
	flags.StringVar(&c.address, "address", "localhost:7233", "the cluster, host:port")
	flags.StringVar(&c.namespace, "namespace", "default", "the namespace")
	flags.StringVar(&c.queue, "queue", "capstan", "the task queue")
	flags.StringVar(&c.store, "store", os.Getenv("CAPSTAN_STORE"), "what every worker reaches: postgres://user@host/database, or for one machine a file (FILE.db), or a directory (or CAPSTAN_STORE)")
	flags.StringVar(&c.root, "root", ".", "the directory that file tools may not leave")
	root.AddCommand(c.worker(), c.run(), c.answer())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := c.traced(ctx, root.ExecuteContext)
	var status ended
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(stderr, "capstan-temporal:", err)
	var far connection
	if errors.As(err, &far) {
		return broken
	}
	return usage
}

// A connection wraps an error of the cluster, the store or the telemetry
// endpoint.
type connection struct{ error }

func (c connection) Unwrap() error { return c.error }

var errTaken = errors.New("a run of that name is there already")

// advise returns an error of the cluster with advice.
func (c *cluster) advise(err error) error {
	var nowhere *serviceerror.NamespaceNotFound
	var older *serviceerror.Unimplemented
	var none *serviceerror.NotFound
	var taken *serviceerror.WorkflowExecutionAlreadyStarted
	var no *sdk.ApplicationError
	var far serviceerror.ServiceError
	switch {
	case errors.As(err, &no):
		return errors.New(no.Message())
	case errors.As(err, &taken):
		return errTaken
	case errors.As(err, &nowhere):
		err = fmt.Errorf("namespace %s is not there (`temporal operator namespace create --namespace %s` makes it)", c.namespace, c.namespace)
	case errors.As(err, &older):
		err = fmt.Errorf("cluster %s is older than this program needs: %w", c.address, err)
	case errors.As(err, &none):
		return fmt.Errorf("there is no such run, or it has ended: %w", err)
	case !errors.As(err, &far):
		return err
	}
	return connection{err}
}

// A cluster has the values of the flags.
type cluster struct {
	address, namespace, queue, store, root string
	telemetry                              *telemetry.Telemetry // nil if no telemetry is sent
}

// sentWithin is the maximum time to wait at the end for pending telemetry.
const sentWithin = 5 * time.Second

// traced calls a function, and sends spans if the standard variables are set.
// The spans contain no texts, because this program does not redact secrets. The
// trace context of this program applies to runs that it begins, and not to runs
// that a worker resumes.
func (c *cluster) traced(ctx context.Context, do func(context.Context) error) (err error) {
	variables := func(name string) string {
		switch name {
		case "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "TRACEPARENT", "TRACESTATE":
			return ""
		}
		return os.Getenv(name)
	}
	if c.telemetry, err = telemetry.FromEnvironment(ctx, variables, telemetry.Options{}); err != nil {
		return err
	}
	err = do(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sentWithin)
	defer cancel()
	if lost := c.telemetry.Shutdown(ctx); lost != nil {
		slog.Warn(lost.Error())
	}
	return err
}

func (c *cluster) dial(ctx context.Context) (client.Client, error) {
	o := client.Options{HostPort: c.address, Namespace: c.namespace, Logger: logger{}, ContextPropagators: []workflow.ContextPropagator{temporal.Traces()}}
	if c.telemetry != nil {
		spans, err := temporal.Tracing(c.telemetry)
		if err != nil {
			return nil, err
		}
		o.Interceptors = append(o.Interceptors, spans)
	}
	t, err := client.DialContext(ctx, o)
	var older *serviceerror.Unimplemented
	switch {
	case errors.As(err, &older):
		return nil, c.advise(err)
	case err != nil:
		return nil, connection{fmt.Errorf("cluster %s: %w (is it running? `temporal server start-dev` starts one)", c.address, err)}
	}
	if err := c.knows(ctx, t); err != nil {
		t.Close()
		return nil, connection{err}
	}
	return t, nil
}

// The oldest supported server. Older servers lack updates, which deliver
// answers, or disable them. Without updates, a request would wait forever.
const oldestMajor, oldestMinor = 1, 25

// knows returns an error if the cluster is too old. It accepts a cluster that
// does not report its version.
func (c *cluster) knows(ctx context.Context, t client.Client) error {
	info, err := t.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return c.advise(err)
	}
	var major, minor int
	if n, _ := fmt.Sscanf(info.GetServerVersion(), "%d.%d", &major, &minor); n < 2 || major > oldestMajor || major == oldestMajor && minor >= oldestMinor {
		return nil
	}
	return fmt.Errorf("cluster %s is older than this program needs: its server is %s, but at least %d.%d is required; an upgraded server keeps its runs",
		c.address, info.GetServerVersion(), oldestMajor, oldestMinor)
}

// runner returns a runner that loads cascades and, on a worker, performs
// effects.
func (c *cluster) runner() (*runner.Runner, error) {
	tools := append(append(tool.Builtins(tool.Options{Root: c.root}), query.Tool()), schedule.Tools(schedule.Options{})...)
	gates := append(schedule.Validators(schedule.Options{}), capy.Validator, capy.Claims, edit.Validator, request.Validator, request.PromiseValidator, request.JudgeValidator)
	return runner.New(
		runner.WithModel(providers.New(providers.Options{Getenv: os.Getenv})), runner.WithRoot(c.root), runner.WithValidators(gates...),
		runner.WithTools(tools...),
	)
}
