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

// services are the services of a request. The network admits some of them.
type services struct {
	network  Network
	app, api *url.URL // nil: none
	ports    []int
	problem  error // of the URLs
	limits   limits
	client   *http.Client
	still    *http.Client // follows no redirect
}

func newServices(s *request.Services, network Network, limits limits) *services {
	v := &services{network: network, limits: limits}
	v.client = &http.Client{
		Timeout:       limits.Answer,
		CheckRedirect: v.redirect,
		Transport: &http.Transport{ // no proxy: the request has the addresses of services
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

// resolve returns a path or URL of a hint as a URL of one of the services.
func (s *services) resolve(base *url.URL, ref string) (*url.URL, error) {
	if s.problem != nil {
		return nil, s.problem
	}
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

// under returns a path below a base. A path that begins with the base's path is
// returned unchanged.
func under(base, ref *url.URL) *url.URL {
	joined := *base
	if p := strings.TrimSuffix(base.Path, "/"); p == "" || ref.Path == p || strings.HasPrefix(ref.Path, p+"/") {
		joined.Path, joined.RawPath = "/", ""
	}
	joined = *joined.JoinPath(ref.EscapedPath())
	joined.RawQuery, joined.Fragment = ref.RawQuery, ref.Fragment
	return &joined
}

// required returns the reason if a port that the request requires does not listen.
func (s *services) required(ctx context.Context) error {
	for _, port := range s.ports {
		if err := s.listens(ctx, port); err != nil {
			return fmt.Errorf("required %w", err)
		}
	}
	return nil
}

// up returns an error if the service of a URL is unavailable.
func (s *services) up(ctx context.Context, u *url.URL) error {
	if err := s.admits(http.MethodGet, u); err != nil {
		return err
	}
	if err := s.connect(ctx, s.dial, address(u)); err != nil {
		return fmt.Errorf("the service %s://%s does not answer: %w", u.Scheme, u.Host, err)
	}
	return nil
}

// listens returns the reason if nothing listens on a port.
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
	err := s.connect(ctx, dial, at)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("port %d: %w", port, context.Cause(ctx))
	case errors.Is(err, hosts.ErrRefused):
		return fmt.Errorf("port %d: %w", port, s.refusal(err))
	}
	return fmt.Errorf("port %d: nothing listens at %s", port, at)
}

// connect opens a connection and closes it.
func (s *services) connect(ctx context.Context, dial dialer, at string) error {
	limited, cancel := context.WithTimeout(ctx, s.limits.Answer)
	defer cancel()
	conn, err := dial(limited, "tcp", at)
	if err != nil {
		return err
	}
	return conn.Close()
}

// ask sends a request to a service. It removes the URL from the errors of
// net/http, because the URL may have a password.
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

// port checks whether something listens.
func (c check) port(ctx context.Context, n *inspection) finding {
	port, err := strconv.ParseUint(c.Args[0], 10, 16)
	if err != nil || port == 0 {
		return blocked("the hint %q cannot be read: it is no port", clip(c.Text, 80))
	}
	err = n.services.listens(ctx, int(port))
	switch {
	case err == nil:
		return holds("port %d listens at %s", port, n.services.host())
	case ctx.Err() != nil, errors.Is(err, hosts.ErrRefused):
		return blocked("%v", err)
	}
	return fails(fmt.Sprintf("start the service of port %d", port), "%v", err)
}
