package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/schema"
)

// maxCancel is the maximum time that a server has to answer.
const maxCancel = 10 * time.Second

// maxAnswer is the maximum size of an answer of a server, in bytes.
const maxAnswer = 64 << 20

func (c *Command) cancel() *cobra.Command {
	var server serverFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run of a server",
		Long: `Cancel a run that capstan serve executes. RUN is a whole name, or last. The run keeps
its progress, and you can resume it. Interrupt capstan run itself with Ctrl-C.`,
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
	var standing struct {
		RunID  string `json:"run_id"`
		Status string `json:"status"`
	}
	ask := func(method, path, body string, want int) error {
		request, err := http.NewRequestWithContext(ctx, method, "http://"+host+"/v1/runs/"+url.PathEscape(id)+path, strings.NewReader(body))
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
		text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err == nil && response.StatusCode != want {
			return refusedBy(f.addr, id, response.StatusCode, text)
		}
		if err == nil {
			err = schema.Unmarshal(text, &standing)
		}
		if err != nil {
			return &exit{exitBroken, fmt.Errorf("server %s: %w", f.addr, err)}
		}
		return nil
	}
	if id == "last" { // the server accepts whole names only
		if err := ask(http.MethodGet, "", "", http.StatusOK); err != nil {
			return err
		}
		id = standing.RunID
	}
	if err := ask(http.MethodPost, "/cancel", "{}", http.StatusAccepted); err != nil {
		return err
	}
	if asJSON {
		return printJSON(c.Stdout, standing)
	}
	fmt.Fprintf(c.Stderr, "cancelling; capstan resume %s continues it\n", oneLine(standing.RunID))
	return nil
}

// refusedBy returns the error for an answer of a server that did not cancel the
// run.
func refusedBy(server, id string, status int, text []byte) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	if schema.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		return &exit{exitBroken, fmt.Errorf("server %s: status %d", server, status)}
	}
	if status >= http.StatusInternalServerError {
		return &exit{exitBroken, fmt.Errorf("server %s: %s", server, oneLine(problem.Detail))}
	}
	return usage("run %s: %s", id, oneLine(problem.Detail))
}
