package inspectors

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/seed61713e19/capstan/validators/request"
)

// url sends a request to an endpoint, and checks the response.
func (c check) url(ctx context.Context, n *inspection) finding {
	u, err := n.services.resolve(cmp.Or(n.services.api, n.services.app), c.Args[0])
	if err != nil {
		return blocked("%v", err)
	}
	return c.ask(ctx, n, c.Method(), u)
}

// ask sends the request of a check.
func (c check) ask(ctx context.Context, n *inspection, method string, u *url.URL) finding {
	if err := n.services.admits(method, u); err != nil {
		return blocked("%s %s: %v", method, u.Redacted(), err)
	}
	client := n.services.client
	if c.Status()/100 == 3 {
		client = n.services.still // the check is about the redirect
	}
	response, err := n.services.ask(ctx, client, method, u)
	if err != nil {
		return blocked("%s %s: %v", method, u.Redacted(), err)
	}
	defer response.Body.Close()
	led := n.steps(response.Request.Response)
	name := nameOf(response)
	body, err := readContent(response.Body, n.limits.Bytes)
	n.answered(response, string(body.bytes[:min(len(body.bytes), 8<<10)]))
	n.cite(fmt.Sprintf("api_responses/%d", len(n.evidence.APIResponses)-1))
	if err != nil && c.has("contains", "lacks", "matches") {
		return blocked("%s: its body could not be read to the end: %v", name, err)
	}
	return sum(slices.Concat(led, []finding{judgeStatus(name, response, c.Status())},
		body.expect(ctx, "the answer to "+name, c.Clauses, "contains", "lacks", "matches")))
}

func nameOf(r *http.Response) string { return r.Request.Method + " " + r.Request.URL.Redacted() }

// answered stores the answer of an endpoint as evidence.
func (n *inspection) answered(r *http.Response, body string) {
	n.evidence.APIResponses = append(n.evidence.APIResponses, request.APIResponse{
		Endpoint: r.Request.URL.Redacted(), Method: r.Request.Method, StatusCode: r.StatusCode, Snippet: clip(body, 500),
	})
}

// steps returns a finding for each redirect, and stores the redirects as
// evidence.
func (n *inspection) steps(last *http.Response) (all []finding) {
	if last == nil {
		return nil
	}
	all = n.steps(last.Request.Response)
	n.answered(last, "")
	message := fmt.Sprintf("%s answered with status %d", nameOf(last), last.StatusCode)
	if to, err := last.Location(); err == nil {
		message += " and leads to " + to.Redacted()
	}
	return append(all, holds("%s", message))
}

func judgeStatus(name string, r *http.Response, status int) finding {
	message := fmt.Sprintf("%s answered with status %d", name, r.StatusCode)
	if to, err := r.Location(); err == nil && r.StatusCode/100 == 3 {
		message += fmt.Sprintf(" and leads to %s, which is not followed", to.Redacted())
	}
	switch {
	case status == r.StatusCode, status == 0 && r.StatusCode/100 == 2:
		return holds("%s", message)
	case status != 0:
		return fails(fmt.Sprintf("make %s answer with status %d", name, status), "%s, not %d", message, status)
	}
	return fails(fmt.Sprintf("make %s answer with a status of 200 to 299", name), "%s", message)
}
