// Package inspectors validates a request against the real work. It reads files
// of the worktree, runs the commands in the hints, calls the services, and
// opens the pages in a headless Chromium.
//
// The validation_hint of a criterion declares its checks. A hint is a list of
// checks, separated by semicolons or line ends, and all checks must succeed:
//
//	file: docs/guide.md size >= 1000 contains "Limits"
//	run: go test ./...
//	url: GET /health status 200 contains "ok"
//	port: 8080
//	page: /login fill "#user" "ann" click "button" text "Welcome"
//
// Other text declares no check. The files of the worktree that it names become
// evidence (mention.go), and a [Judge] decides.
//
// The response only has evidence that the inspector saw, and each result names
// its own evidence. Commands and services need the operator's permission. No
// file outside the worktree is read (worktree.go, network.go). Begin with
// [Inspector.Inspect], then inspection.go. Package hints parses the checks.
package inspectors

import (
	"cmp"
	"context"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// An Inspector validates requests. Its zero value runs no commands, connects to no
// service, judges nothing and uses the Chromium that it finds. It is safe for concurrent
// use once its fields are set.
type Inspector struct {
	Root        string           // the directory that a worktree is or lies in; empty: worktrees are where requests say
	Network     Network          // which services are asked
	AllowExec   bool             // whether the commands that hints name are run
	Env         []string         // further variables of commands, in the form of [process.Environment]
	Browser     string           // a Chromium, by path or by name in PATH; empty: the first of the usual names; NoBrowser: none
	EvidenceDir string           // the directory of screenshots, created on demand; empty: a new temporary directory
	limits      limits           // [limits] has the defaults
	Judge       Judge            // decides criteria that cannot be computed; nil: such criteria are BLOCKED
	Now         func() time.Time // the clock; nil: time.Now
}

// NoBrowser as an Inspector's Browser means that there is none.
const NoBrowser = "none"

// limits are the limits of one criterion. All criteria of a request together
// get a little less than the request's timeout.
type limits struct {
	Criterion time.Duration // for the whole criterion; 0: a minute
	Answer    time.Duration // for a service to answer; 0: ten seconds
	Wait      time.Duration // until a page shows the expected state; 0: five seconds
	Bytes     int64         // read of a file, a body or a command's output; 0: 8 MiB
}

// A Judge decides a criterion that cannot be computed, for example by a model
// call. It gets the evidence so far, and returns the status, the evidence and
// the remediation. If a computed check fails, the judge is not called.
type Judge func(ctx context.Context, c request.Criterion, found request.Evidence) (request.Result, error)

// validatorID names the inspector in its responses.
const validatorID = "capstan"

// Inspect validates a request. The only error is the context's cause.
//
// An unavailable service, a missing worktree or a missing Chromium makes
// criteria BLOCKED, with the reason as evidence. The response has one result
// for each criterion, in the request's order. Criteria without enough time are
// BLOCKED.
func (i *Inspector) Inspect(ctx context.Context, r *request.Request) (*request.Response, error) {
	began := i.now()
	at := i.begin(r)
	defer at.end()
	limit := r.Timeout() - min(r.Timeout()/10, 5*time.Second)
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errOutOfTime)
	defer cancel()
	response := &request.Response{TaskID: r.TaskID, ValidatorID: validatorID, Results: []request.Result{}}
	for n := range r.Criteria {
		response.Results = append(response.Results, at.criterion(bounded, n))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	response.Verdict, response.Reasoning = conclude(response.Results)
	response.Evidence = at.collected()
	if at.computed {
		one := 1.0
		response.Confidence = &one
	}
	response.Timestamp = i.now().UTC()
	response.DurationSeconds = response.Timestamp.Sub(began).Seconds()
	return response, nil
}

func (i *Inspector) now() time.Time {
	if i.Now != nil {
		return i.Now()
	}
	return time.Now()
}

func (l limits) withDefaults() limits {
	l.Criterion = cmp.Or(max(l.Criterion, 0), time.Minute)
	if l.Answer <= 0 {
		l.Answer = 10 * time.Second
	}
	l.Wait = cmp.Or(max(l.Wait, 0), 5*time.Second)
	if l.Bytes <= 0 {
		l.Bytes = 8 << 20
	}
	return l
}
