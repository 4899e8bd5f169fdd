package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/hosts"
)

// httpTimeout is the default limit for a call with its redirects and body.
const httpTimeout = 30 * time.Second

// maxBody is the maximum size of a body, in bytes.
const maxBody = 4 << 20

// maxRedirects is the maximum number of redirects in a call.
const maxRedirects = 10

// httpGetTool returns http_get, which gets a text over HTTP and returns {status,
// content_type, body}. A call with an error status succeeds. The client has no cookies,
// no proxy and no credentials.
func httpGetTool(o Options) Tool {
	f := fetcher{o.Hosts, cmp.Or(max(o.Timeout, 0), httpTimeout), client(o.Hosts)}
	return New("http_get", "Fetch a text from an http or https URL.", f.get).WithEffect(Reads)
}

func client(allowed hosts.List) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            allowed.Dial,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			if err := allowed.Admits(r.URL); err != nil {
				return fmt.Errorf("redirected: %w", err)
			}
			r.Header.Del("Referer")
			return nil
		},
	}
}

type fetcher struct {
	hosts   hosts.List
	timeout time.Duration
	client  *http.Client
}

type httpGet struct {
	URL string `json:"url" jsonschema:"the http or https URL"`
}

type httpResult struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Body        string `json:"body"`
}

func (f fetcher) get(ctx context.Context, a httpGet) (any, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, errors.New("that is not a URL")
	}
	if err := f.hosts.Admits(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("no answer in %s", f.timeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "capstan")
	r.Header.Set("Accept", "text/*, application/json, application/xml;q=0.9, */*;q=0.1")
	result, err := f.fetch(r)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", u.Host, err)
	}
	return result, nil
}

func (f fetcher) fetch(r *http.Request) (any, error) {
	resp, err := f.client.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	content := resp.Header.Get("Content-Type")
	if content != "" && !textual(content) {
		return nil, fmt.Errorf("status %d; %s is not text", resp.StatusCode, content)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case len(body) > maxBody:
		return nil, fmt.Errorf("status %d with more than %d bytes", resp.StatusCode, maxBody)
	case err != nil:
		return nil, err
	}
	if i := invalidAt(body); i >= 0 {
		return nil, fmt.Errorf("status %d with a body that is not text: byte %d is not UTF-8", resp.StatusCode, i)
	}
	return httpResult{resp.StatusCode, content, string(body)}, nil
}

// textual reports whether the media type is a text.
func textual(content string) bool {
	media, _, err := mime.ParseMediaType(content)
	if err != nil {
		return false
	}
	if strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") {
		return true
	}
	switch media {
	case "application/json", "application/xml", "application/javascript", "application/ecmascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/x-ndjson", "application/jsonl", "application/x-www-form-urlencoded",
		"application/sql", "application/graphql":
		return true
	}
	return false
}
