package inspectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/validators/request"
)

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
	http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// A urlCheck asks an endpoint.
type urlCheck struct {
	ref    string // a path, or a URL
	method string
	status int // 0: any of 200 to 299
	expect []expectation
}

func (urlCheck) in() request.Type { return request.Both }

// parseURL reads: [METHOD] PATH-OR-URL [METHOD] [status N] [contains TEXT]
// [lacks TEXT] [matches /RE/].
func parseURL(l *lexer) (check, error) {
	var c urlCheck
	if err := l.each(c.clause); err != nil {
		return nil, err
	}
	if c.ref == "" {
		return nil, errors.New("no URL is named")
	}
	c.method = cmp.Or(c.method, http.MethodGet)
	return c, nil
}

func (c *urlCheck) clause(w word, l *lexer) (err error) {
	e, is, err := parseExpectation(w, l)
	switch {
	case err != nil:
		return err
	case is:
		c.expect = append(c.expect, e)
		return nil
	case !w.quoted && c.method == "" && slices.Contains(methods, w.text):
		c.method = w.text
		return nil
	case w.is("status"):
		c.status, err = parseStatus(l)
		return err
	case c.ref == "" && w.text != "":
		c.ref = w.text
		return nil
	}
	return fmt.Errorf("%s is none of status, contains, lacks, matches", w)
}

func parseStatus(l *lexer) (int, error) {
	text, err := l.argument("status")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 || n > 599 {
		return 0, fmt.Errorf("%q is no HTTP status", clip(text, 80))
	}
	return n, nil
}

func (c urlCheck) inspect(ctx context.Context, n *inspection) finding {
	u, err := n.services.resolve(cmp.Or(n.services.api, n.services.app), c.ref)
	if err != nil {
		return blocked("%v", cmp.Or(n.services.problem, err))
	}
	if err := n.services.admits(c.method, u); err != nil {
		return blocked("%s %s: %v", c.method, u.Redacted(), err)
	}
	if err := n.services.up(ctx, u); err != nil {
		return blocked("%v", err)
	}
	client := n.services.client
	if c.status/100 == 3 {
		client = n.services.still // the redirect is what is asked for
	}
	response, err := n.services.ask(ctx, client, c.method, u)
	if err != nil {
		return blocked("%s %s: %v", c.method, u.Redacted(), err)
	}
	defer response.Body.Close()
	led := n.steps(response.Request.Response)
	name := nameOf(response)
	body, err := readContent(response.Body, n.limits.Bytes)
	n.answered(response, string(body.bytes[:min(len(body.bytes), 8<<10)]))
	n.cite(fmt.Sprintf("api_responses/%d", len(n.evidence.APIResponses)-1))
	if err != nil && c.expect != nil {
		return blocked("%s: its body could not be read to the end: %v", name, err)
	}
	return sum(slices.Concat(led, []finding{c.judgeStatus(name, response)}, body.expectAll(ctx, "the answer to "+name, c.expect)))
}

func nameOf(r *http.Response) string { return r.Request.Method + " " + r.Request.URL.Redacted() }

// answered keeps what an endpoint answered as evidence.
func (n *inspection) answered(r *http.Response, body string) {
	n.evidence.APIResponses = append(n.evidence.APIResponses, request.APIResponse{
		Endpoint: r.Request.URL.Redacted(), Method: r.Request.Method, StatusCode: r.StatusCode, Snippet: clip(body, 500),
	})
}

// steps tells of the redirects that were followed, and keeps them as evidence.
func (n *inspection) steps(last *http.Response) (all []finding) {
	if last == nil {
		return nil
	}
	all = n.steps(last.Request.Response)
	n.answered(last, "")
	said := fmt.Sprintf("%s answered with status %d", nameOf(last), last.StatusCode)
	if to, err := last.Location(); err == nil {
		said += " and leads to " + to.Redacted()
	}
	return append(all, holds("%s", said))
}

func (c urlCheck) judgeStatus(name string, r *http.Response) finding {
	said := fmt.Sprintf("%s answered with status %d", name, r.StatusCode)
	if to, err := r.Location(); err == nil && r.StatusCode/100 == 3 {
		said += fmt.Sprintf(" and leads to %s, which is not followed", to.Redacted())
	}
	switch {
	case c.status == r.StatusCode, c.status == 0 && r.StatusCode/100 == 2:
		return holds("%s", said)
	case c.status != 0:
		return fails(fmt.Sprintf("make %s answer with status %d", name, c.status), "%s, not %d", said, c.status)
	}
	return fails(fmt.Sprintf("make %s answer with a status of 200 to 299", name), "%s", said)
}
