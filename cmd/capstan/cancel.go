package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/serve/problems"
)

// maxCancel is the maximum time that a server has to answer.
const maxCancel = 10 * time.Second

func (c *Command) cancel() *cobra.Command {
	var server serverFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run of a server",
		Long: `Cancel a run that capstan serve executes. The run keeps its progress, and you can
resume it. Interrupt capstan run itself with Ctrl-C.`,
		Example: `  capstan runs cancel last
  capstan runs cancel nightly --addr unix:capstan.sock`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.cancelRun(cmd.Context(), args[0], server, asJSON)
		},
	}
	server.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

// cancelRun asks a server to cancel a run.
func (c *Command) cancelRun(ctx context.Context, id string, f serverFlags, asJSON bool) error {
	token, err := c.serverToken(f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxCancel)
	defer cancel()
	host, transport := f.addr, &http.Transport{}
	if path := socket(f.addr); path != "" {
		host = "localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/v1/runs/"+url.PathEscape(id)+"/cancel", strings.NewReader("{}"))
	if err != nil {
		return usage("--addr: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return &exit{exitBroken, fmt.Errorf("server %s: %w; is capstan serve running there?", f.addr, err)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return &exit{exitBroken, fmt.Errorf("server %s: %w", f.addr, err)}
	}
	if response.StatusCode != http.StatusAccepted {
		return refusedBy(f.addr, id, response.StatusCode, text)
	}
	var standing orders.Standing
	if err := json.Unmarshal(text, &standing); err != nil {
		return &exit{exitBroken, fmt.Errorf("server %s: %w", f.addr, err)}
	}
	if asJSON {
		return printJSON(c.Stdout, standing)
	}
	fmt.Fprintf(c.Stderr, "cancelling; capstan resume %s continues it\n", oneLine(standing.RunID))
	return nil
}

// refusedBy returns the error for the answer of a server that cancels nothing.
func refusedBy(server, id string, status int, text []byte) error {
	var problem problems.Problem
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		return &exit{exitBroken, fmt.Errorf("server %s: status %d", server, status)}
	}
	if status >= http.StatusInternalServerError {
		return &exit{exitBroken, fmt.Errorf("server %s: %s", server, oneLine(problem.Detail))}
	}
	return usage("run %s: %s", id, oneLine(problem.Detail))
}
