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
	if err := n.services.up(ctx, u); err != nil {
		return blocked("%v", err)
	}
	name := c.method + " " + u.Redacted()
	response, err := n.services.ask(ctx, c.method, u)
	if err != nil {
		return blocked("%s: %v", name, err)
	}
	defer response.Body.Close()
	body, err := readContent(response.Body, n.limits.Bytes)
	n.evidence.APIResponses = append(n.evidence.APIResponses, request.APIResponse{
		Endpoint: u.Redacted(), Method: c.method, StatusCode: response.StatusCode,
		Snippet: clip(string(body.bytes[:min(len(body.bytes), 8<<10)]), 500),
	})
	if err != nil && c.expect != nil {
		return blocked("%s: its body could not be read to the end: %v", name, err)
	}
	return sum(append([]finding{c.judgeStatus(name, response)}, body.expectAll("the answer to "+name, c.expect)...))
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
