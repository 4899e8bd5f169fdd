package openai

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/anthropic"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// Open returns the client of a provider, with the key and the base URL from the
// environment. If a
// variable is missing, the error has its name.
func Open(p model.Provider, getenv func(string) string, o Options) (*Client, error) {
	if missing := p.Missing(getenv); missing != "" {
		return nil, errors.New(missing)
	}
	base, from := p.Base(getenv)
	if p.KeyEnv != "" {
		o.APIKey = getenv(p.KeyEnv)
	}
	o.Provider, o.BaseURL = p, base
	c, err := New(o)
	if err != nil && from != "" {
		err = fmt.Errorf("%s: %w", from, err)
	}
	return c, err
}

// New returns a client. It reads no environment variable and sends no request.
func New(o Options) (*Client, error) {
	p := dialect(o)
	spoken, err := protocolOf(p)
	if err != nil {
		return nil, err
	}
	address, err := endpoint(p.BaseURL, spoken.Path())
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(o.APIKey)
	if strings.ContainsFunc(key, notShown) {
		return nil, errors.New("api key: has a character that no key has")
	}
	for name, value := range p.Headers {
		if name == "" || strings.ContainsFunc(name, notShown) || strings.ContainsAny(name, ":()") || strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("header %q: is none", name)
		}
	}
	limits := p.Limits
	limits.Timeout = cmp.Or(o.Timeout, limits.Timeout)
	limits.Tries, limits.Concurrency = cmp.Or(o.MaxTries, limits.Tries), cmp.Or(o.Concurrency, limits.Concurrency)
	if limits.Concurrency < 0 || limits.Tries < 0 || limits.Timeout < 0 || limits.RequestsPerMinute < 0 {
		return nil, errors.New("limits: requests per minute, concurrency, tries and timeout count from 1")
	}
	sleep := o.Sleep
	if sleep == nil {
		sleep = model.Wait
	}
	client := http.Client{Transport: transport(cmp.Or(limits.Concurrency, defaultConcurrency))}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	client.CheckRedirect = sameOrigin // redirects to other origins would get the key
	return &Client{
		provider: p,
		protocol: spoken,
		url:      address,
		shown:    (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String(),
		keyless:  key == "",
		header:   p.Header(key),
		secrets:  secrets(key, p.Headers),
		http:     &client,
		timeout:  cmp.Or(limits.Timeout, DefaultTimeout),
		tries:    cmp.Or(limits.Tries, model.Tries),
		stream:   o.Stream,
		gate:     o.Limits.gate(p.BaseURL, key, limits, sleep),
		onWait:   o.OnWait,
		sleep:    sleep,
		most:     bounds{answer: 64 << 20, event: 16 << 20, events: 1 << 19},
	}, nil
}

func notShown(r rune) bool { return r <= ' ' || r > '~' }

// protocolOf returns the protocol of a provider.
func protocolOf(p model.Provider) (protocol.Protocol, error) {
	switch p.API {
	case "":
		return chat{p}, nil
	case model.Messages:
		return anthropic.New(p), nil
	case "responses":
		return responses{p}, nil
	}
	return nil, fmt.Errorf("provider %s: unknown api %q: want chat, messages or responses", p.Name, p.API)
}

// dialect returns the provider with its base URL. At another host, the provider
// openai loses its
// special cases.
func dialect(o Options) model.Provider {
	p := o.Provider
	if p.Name == "" {
		p, _ = model.Builtin(model.OpenAI)
	}
	base := cmp.Or(o.BaseURL, p.BaseURL)
	if known, _ := model.Builtin(p.Name); p.Name == model.OpenAI && host(base) != host(known.BaseURL) {
		p.LimitField, p.CacheField = "", ""
	}
	p.BaseURL, p.LimitField = base, cmp.Or(p.LimitField, "max_tokens")
	return p
}

func host(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return ""
	}
	return u.Host
}

// shortest is the minimum length of a secret in bytes. Shorter keys, such as
// "ollama", are also
// ordinary words.
const shortest = 8

// secrets returns the texts that messages must not contain: the key, and the
// secrets in headers.
func secrets(key string, headers map[string]string) []string {
	var list []string
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= shortest {
			list = append(list, s, strings.ReplaceAll(s, "/", `\/`)) // the escaped form in JSON
		}
	}
	add(key)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, word := range []string{"auth", "key", "token", "secret", "pass", "cookie"} {
			if strings.Contains(strings.ToLower(name), word) {
				add(strings.TrimPrefix(headers[name], "Bearer "))
				break
			}
		}
	}
	return list
}

// endpoint returns the address of a path below a base URL.
func endpoint(base, path string) (*url.URL, error) {
	base = strings.TrimSpace(base)
	if base != "" && !strings.Contains(base, "//") {
		base = "//" + base // parses the host, and not user:password as a scheme
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("base url: %w: want one as http://127.0.0.1:8000/v1", errors.Unwrap(err)) // without the text, which may contain a password
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("base url %s: want http:// or https:// and a host, as in http://127.0.0.1:8000/v1", strings.TrimPrefix(u.Redacted(), "//"))
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("base url %s: has a user or a fragment", u.Redacted())
	}
	if u.Path == "" {
		u.Path = "/" // HTTP/2 requires an absolute path
	}
	return u.JoinPath(path), nil
}

// transport returns a transport with one idle connection for each parallel
// request.
func transport(concurrency int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, concurrency
	return t
}

func sameOrigin(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}
