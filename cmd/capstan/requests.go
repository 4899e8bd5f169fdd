package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/examples"
	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/inspectors"
)

func (c *Command) validateRequest() *cobra.Command {
	var i inspectors.Inspector
	var network networkFlags
	var name string
	cmd := &cobra.Command{
		Use:   "validate-request REQUEST.json",
		Short: "Execute a validation request and print the response",
		Long: `Execute a request of the validation request protocol: read the files of its worktree,
run its commands, call its services and open its pages in a headless Chromium. Services
need --allow-services, other hosts of a page need --allow-host, and commands need
--allow-exec. --model judges the criteria that cannot be computed; without a model they are
BLOCKED.`,
		Annotations: exitStatus("0 PASS, 1 FAIL or PARTIAL, 2 a malformed request, 3 BLOCKED"),
		Example:     `  capstan validate-request request.json --allow-services --allow-exec --evidence shots`,
		Args:        cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := c.files().Text(args[0])
			if err != nil {
				return usage("%w", err)
			}
			r, err := request.ParseRequest([]byte(text))
			if err != nil {
				return usage("%s: %w", args[0], err)
			}
			for _, w := range r.Warnings() {
				fmt.Fprintln(c.Stderr, "note:", w)
			}
			i.Network.Methods = network.methods
			if i.Judge, err = c.criterionJudge(name); err != nil {
				return err
			}
			return c.validate(cmd.Context(), r, &i)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&i.Root, "root", "", flagTexts["root"])
	flags.BoolVar(&i.AllowExec, "allow-exec", false, flagTexts["allow-exec"])
	flags.BoolVar(&i.Network.Services, "allow-services", false, "permission to connect to the services and ports of the request")
	network.add(cmd, &i.Network.Hosts)
	flags.StringVar(&i.EvidenceDir, "evidence", "", flagTexts["evidence"])
	flags.StringVar(&i.Browser, "browser", "", "path of Chromium, or none")
	flags.Var((*modelflag.Models)(&name), "model", flagTexts["model"])
	return cmd
}

// validate prints the response to a request, in its judged form.
func (c *Command) validate(ctx context.Context, r *request.Request, i *inspectors.Inspector) error {
	if i.EvidenceDir != "" { // the folder must exist afterwards, even without a screenshot
		if err := os.MkdirAll(i.EvidenceDir, 0o755); err != nil {
			return usage("--evidence: %w", err)
		}
	}
	outcome, err := inspected(ctx, r, i)
	if err != nil {
		return stopped(ctx, err)
	}
	if err := printJSON(c.Stdout, outcome.Judgement.Counted(outcome.Response)); err != nil {
		return &exit{exitBroken, err}
	}
	return judged(outcome.Judgement)
}

// networkFlags limit the connections of servers for requests.
type networkFlags struct{ methods []string }

func (f *networkFlags) add(cmd *cobra.Command, hosts *[]string) {
	flags := cmd.Flags()
	flags.StringArrayVar(hosts, "allow-host", nil, flagTexts["allow-host"])
	flags.StringArrayVar(&f.methods, "allow-method", nil, "HTTP method for validation requests besides GET and HEAD; may be repeated")
}

// inspected sends one request to an inspector and returns its response.
func inspected(ctx context.Context, r *request.Request, i *inspectors.Inspector) (dispatch.Outcome, error) {
	d := dispatch.New(dispatch.Config{Fresh: func() dispatch.Validate { return inspecting(i) }, Judging: seenIn(i)})
	defer d.Close()
	return d.Do(ctx, r)
}

// seenIn returns the options that find the screenshots of an inspector in its
// folder.
func seenIn(i *inspectors.Inspector) func(*request.Request) request.Options {
	return func(*request.Request) request.Options { return request.Options{Evidence: i.EvidenceDir} }
}

// inspecting returns a function that answers requests with an inspector.
func inspecting(i *inspectors.Inspector) dispatch.Validate {
	return func(ctx context.Context, r *request.Request, _ *request.ProtocolError) ([]byte, error) {
		response, err := i.Inspect(ctx, r)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	}
}

// judged returns the exit status of a judgement, with the reason if there is no
// verdict.
func judged(j request.Judgement) error {
	switch status := j.ExitStatus(); status {
	case exitOK:
		return nil
	case exitBroken:
		return &exit{status, errors.New(j.Reason)}
	default:
		return &exit{status: status}
	}
}

// criterionJudge returns a model's judge of criteria, or nil without a model.
func (c *Command) criterionJudge(flag string) (inspectors.Judge, error) {
	if flag == "" {
		return nil, nil
	}
	r, cascade, err := c.shippedCascade("validate_criterion.yaml", flag)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, criterion request.Criterion, found request.Evidence) (request.Result, error) {
		result, err := r.Run(ctx, cascade, map[string]any{"criterion": plain(criterion), "found": plain(found)})
		if err != nil {
			return request.Result{}, err
		}
		outcome := request.Result{CriterionID: criterion.ID}
		text, err := json.Marshal(result.Output)
		if err == nil {
			err = schema.Unmarshal(text, &outcome)
		}
		return outcome, err
	}, nil
}

// shippedCascade returns a cascade of Capstan and its runner, with the models
// of a flag.
func (c *Command) shippedCascade(file, flag string, more ...runner.Option) (*runner.Runner, *cascades.Cascade, error) {
	models := newModels(c.Getenv, false, nil, c.names.root)
	chosen := models.chosen(flag, file)
	r, err := runner.New(append(more, withGates(), runner.WithModel(models), runner.WithModelName(chosen))...)
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	cascade, err := r.LoadFS(examples.Files, file)
	if err != nil {
		return nil, nil, err
	}
	return r, cascade, models.ready(cascade, chosen)
}

// plain returns a protocol message in the types of decoded JSON.
func plain(message any) any {
	value, err := schema.Plain(message)
	if err != nil {
		return map[string]any{}
	}
	return value
}

// judgeResponses runs the gate validation_response outside a cascade. It prints
// the judged form of each response in the format of the protocol.
func (c *Command) judgeResponses(with map[string]any, files []string, f gateFlags) error {
	if f.format != "text" && f.format != "json" {
		return usage("--format of validation_response must be text or json, not %q", f.format)
	}
	gate, err := request.NewGate(typed(with, request.Validator.Params()))
	if err != nil {
		return usage("%w", err)
	}
	for _, w := range gate.Request.Warnings() {
		fmt.Fprintln(c.Stderr, "note:", w)
	}
	var worst error
	for _, file := range files {
		text, err := c.files().Bytes(file) // the gate rejects text that is not UTF-8
		if err != nil {
			return usage("%w", err)
		}
		j := gate.Judge(text)
		if err := printJSON(c.Stdout, j); err != nil {
			return &exit{exitBroken, err}
		}
		var e *exit
		if failure := judged(j); worst == nil || errors.As(failure, &e) && e.status == exitBroken {
			worst = failure
		}
	}
	return worst
}
