package inspectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/hosts"
	"github.com/seed61713e19/capstan/validators/request"
)

// loopback is where ports are looked for when no URL names a host.
const loopback = "127.0.0.1"

// services are what the request says is up, of which the network admits some. Results
// are stored: a service is asked once.
type services struct {
	network  Network
	app, api *url.URL // nil: none
	ports    []int
	problem  error // of the URLs
	limits   Limits
	client   *http.Client
	still    *http.Client // follows no redirect
	asked    map[string]error
}

func newServices(s *request.Services, network Network, limits Limits) *services {
	v := &services{network: network, limits: limits, asked: map[string]error{}}
	v.client = &http.Client{
		Timeout:       limits.Answer,
		CheckRedirect: v.redirect,
		Transport: &http.Transport{ // no proxy: services are where the request says
			DialContext:            v.dial,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 1 << 20,
		},
	}
	still := *v.client
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	v.still = &still
	if s == nil {
		return v
	}
	v.ports = s.RequiredPorts
	var appErr, apiErr error
	v.app, appErr = parseService("app_url", s.AppURL)
	v.api, apiErr = parseService("api_url", s.APIURL)
	v.problem = errors.Join(appErr, apiErr)
	return v
}

func parseService(name, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is no URL", name)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s is not http or https", name)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s names no host", name)
	}
	return u, nil
}

// host is where the request's ports are.
func (s *services) host() string {
	for _, u := range []*url.URL{s.app, s.api} {
		if u != nil {
			return u.Hostname()
		}
	}
	return loopback
}

// includes reports whether a URL leads to one of the request's services.
func (s *services) includes(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && s.has(address(u))
}

// has reports whether a host and port are one of the request's services.
func (s *services) has(at string) bool {
	at = strings.ToLower(at)
	named := func(u *url.URL) bool { return u != nil && address(u) == at }
	return named(s.app) || named(s.api) || slices.ContainsFunc(s.ports, func(port int) bool {
		return strings.ToLower(net.JoinHostPort(s.host(), strconv.Itoa(port))) == at
	})
}

// address returns the host and port of a URL.
func address(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// redirect stops at a redirect that leads out of the request's services, which the
// criterion is judged by. One to a service that may not be asked is an error.
func (s *services) redirect(r *http.Request, via []*http.Request) error {
	if len(via) >= 10 || !s.includes(r.URL) {
		return http.ErrUseLastResponse
	}
	return s.admits(r.Method, r.URL)
}

// resolve is a path of a hint, or a URL, as a URL of one of the services.
func (s *services) resolve(base *url.URL, ref string) (*url.URL, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL", clip(ref, 200))
	}
	if !u.IsAbs() && u.Host == "" {
		if base == nil {
			return nil, fmt.Errorf("the request names no service for %q", ref)
		}
		return under(base, u), nil
	}
	if !s.includes(u) {
		return nil, fmt.Errorf("%q is not one of the request's services", u.Redacted())
	}
	return u, nil
}

// under is a path below a base, or the path itself where it begins with the
// base's.
func under(base, ref *url.URL) *url.URL {
	joined := *base
	if p := strings.TrimSuffix(base.Path, "/"); p == "" || ref.Path == p || strings.HasPrefix(ref.Path, p+"/") {
		joined.Path, joined.RawPath = "/", ""
	}
	joined = *joined.JoinPath(ref.EscapedPath())
	joined.RawQuery, joined.Fragment = ref.RawQuery, ref.Fragment
	return &joined
}

// required says why validation cannot proceed, if it cannot: every port that
// the request requires must listen.
func (s *services) required(ctx context.Context) error {
	for _, port := range s.ports {
		if err := s.listens(ctx, port); err != nil {
			return fmt.Errorf("required %w", err)
		}
	}
	return nil
}

// up says why the service that a URL needs is not up, if it is not.
func (s *services) up(ctx context.Context, u *url.URL) error {
	if s.problem != nil {
		return s.problem
	}
	root := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: "/"}
	if err := s.admits(http.MethodGet, &root); err != nil {
		return err
	}
	return s.once(ctx, root.String(), func() error {
		response, err := s.ask(ctx, s.client, http.MethodGet, &root)
		if err != nil {
			return fmt.Errorf("the service %s does not answer: %w", root.Redacted(), err)
		}
		return response.Body.Close()
	})
}

// listens says why nothing listens on a port.
func (s *services) listens(ctx context.Context, port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("port %d: no such port", port)
	}
	at := net.JoinHostPort(s.host(), strconv.Itoa(port))
	dial := (&net.Dialer{}).DialContext // Services allows the ports of hints too
	if !s.network.Services {
		dial = s.dial
		if err := s.admits(http.MethodGet, &url.URL{Scheme: "http", Host: at}); err != nil {
			return fmt.Errorf("port %d: %w", port, err)
		}
	}
	return s.once(ctx, at, func() error {
		limited, cancel := context.WithTimeout(ctx, s.limits.Answer)
		defer cancel()
		conn, err := dial(limited, "tcp", at)
		switch {
		case err == nil:
			return conn.Close()
		case ctx.Err() != nil:
			return fmt.Errorf("port %d: %w", port, context.Cause(ctx))
		case errors.Is(err, hosts.ErrRefused):
			return fmt.Errorf("port %d: %w", port, s.refusal(err))
		}
		return fmt.Errorf("port %d: nothing listens at %s", port, at)
	})
}

// once remembers what was found, unless the context ended while looking.
func (s *services) once(ctx context.Context, key string, look func() error) error {
	if err, known := s.asked[key]; known {
		return err
	}
	err := look()
	if ctx.Err() != nil && err != nil {
		return err
	}
	s.asked[key] = err
	return err
}

// ask asks a service. The errors of net/http have the whole URL, which may
// have a password, and say nothing more than what is in them.
func (s *services) ask(ctx context.Context, client *http.Client, method string, u *url.URL) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(r)
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	return response, err
}

// A portCheck looks whether something listens.
type portCheck int

func (portCheck) in() request.Type { return request.Both }

// parsePort reads a port's number.
func parsePort(l *lexer) (check, error) {
	text, err := l.argument("port:")
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return nil, fmt.Errorf("%q is no port", clip(text, 80))
	}
	if l.more() {
		return nil, errors.New("nothing can stand behind a port")
	}
	return portCheck(port), nil
}

func (c portCheck) inspect(ctx context.Context, n *inspection) finding {
	port := int(c)
	err := n.services.listens(ctx, port)
	switch {
	case err == nil:
		return holds("port %d listens at %s", port, n.services.host())
	case ctx.Err() != nil, errors.Is(err, hosts.ErrRefused):
		return blocked("%v", err)
	}
	return fails(fmt.Sprintf("start what is to listen on port %d", port), "%v", err)
}
