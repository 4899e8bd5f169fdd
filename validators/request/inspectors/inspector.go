// Package inspectors validates a request for real: it looks at the files of
// the worktree, runs the commands that the hints name, asks the services, and
// opens the pages in a headless Chromium.
//
// What is to be looked at is read from a criterion's validation_hint. A hint is
// a list of checks, parted by semicolons or line ends, that must all hold:
//
//	file: docs/guide.md size >= 1000 contains "Limits"
//	run: go test ./...
//	url: GET /health status 200 contains "ok"
//	port: 8080
//	page: /login fill "#user" "ann" click "button" text "Welcome"
//
// Other text declares no check. The files of the worktree that it names become evidence
// (mention.go), and a [Judge] decides.
//
// The response has only evidence that was seen, and each result names its own. Commands
// and services need the operator's permission, and no file outside the worktree is read
// (worktree.go, network.go). Begin with [Inspector.Inspect], then hint.go and inspection.go.
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
	Env         []string         // what commands see beside the plain variables, as [process.Environment] has it
	Browser     string           // a Chromium, by path or by name in PATH; empty: the first of the usual names; NoBrowser: none
	EvidenceDir string           // where screenshots are kept, made when there is one; empty: a new directory of the system's temporary ones
	Limits      Limits           // what holds where a limit is 0 is told there
	Judge       Judge            // decides what cannot be computed; nil: that is BLOCKED
	Now         func() time.Time // the clock; nil: time.Now
}

// NoBrowser as an Inspector's Browser means that there is none.
const NoBrowser = "none"

// Limits bound what one criterion may take. All of a request's criteria
// together take a little less than the request's time-out.
type Limits struct {
	Criterion time.Duration // of a criterion as a whole; 0: a minute
	Answer    time.Duration // for a service to answer; 0: ten seconds
	Wait      time.Duration // for a page to come to show what it should; 0: five seconds
	Bytes     int64         // read of a file, a body or a command's output; 0: 8 MiB
}

// A Judge decides a criterion that cannot be computed, such as by asking a
// model. It is given what has been found so far, and decides the status, the
// evidence and the remediation of the result. A criterion of which something
// computed fails is not put to it.
type Judge func(ctx context.Context, c request.Criterion, found request.Evidence) (request.Result, error)

// validatorID names the inspector in its responses.
const validatorID = "capstan"

// Inspect validates a request. The error is the context's cause alone: whatever
// else is in the way, such as a service that is down, a missing worktree or no
// Chromium, makes criteria BLOCKED, and their evidence says why. The response
// has one result for each criterion, in the request's order; criteria that time
// does not suffice for are BLOCKED.
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

func (l Limits) withDefaults() Limits {
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
