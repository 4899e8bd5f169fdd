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

// What holds where [HTTPOptions] say nothing.
const (
	DefaultHTTPTimeout = 30 * time.Second
	DefaultHTTPMaxBody = 4 << 20 // bytes
)

// maxRedirects bounds how often one call is sent on.
const maxRedirects = 10

// HTTPOptions say what http_get may do.
type HTTPOptions struct {
	// Hosts are the hosts that may be asked: "example.com", "*.example.com" (the names
	// below it, not itself), "192.0.2.7", each with ":port", or else on every port. An
	// address that is not public must itself be in the list, whatever name leads to it;
	// the loopback may also be in it as localhost.
	Hosts   []string
	Timeout time.Duration // of a call, its redirects and body included; 0: DefaultHTTPTimeout
	MaxBody int64         // bytes, unpacked; 0: DefaultHTTPMaxBody
}

// HTTPGet makes http_get, which fetches a text over http or https and gives
// {status, content_type, body}. A status that is no success is a result like
// any other. Cookies, proxies and credentials are not used.
func HTTPGet(o HTTPOptions) Tool {
	o.Timeout = cmp.Or(max(o.Timeout, 0), DefaultHTTPTimeout)
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultHTTPMaxBody
	}
	return New("http_get", "Fetch a text from an http or https URL.", fetcher{o, client(o.Hosts)}.get).That(Reads)
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
	HTTPOptions
	client *http.Client
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
	if err := hosts.List(f.Hosts).Admits(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.Timeout, fmt.Errorf("no answer in %s", f.Timeout))
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
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.MaxBody+1))
	switch {
	case int64(len(body)) > f.MaxBody:
		return nil, fmt.Errorf("status %d with more than %d bytes", resp.StatusCode, f.MaxBody)
	case err != nil:
		return nil, err
	}
	if i := invalidAt(body); i >= 0 {
		return nil, fmt.Errorf("status %d with a body that is not text: byte %d is not UTF-8", resp.StatusCode, i)
	}
	return httpResult{resp.StatusCode, content, string(body)}, nil
}

// textual tells whether a media type is text that a model can read.
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
