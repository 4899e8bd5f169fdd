package inspectors

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/seed61713e19/capstan/internal/hosts"
)

// A Network is the set of allowed connections of an inspector. Its zero value
// allows no connection.
type Network struct {
	Services bool     // the services that a request names, with every method
	Hosts    []string // "name", "name:port", "*.name" or an address, as http_get takes them
	Methods  []string // methods that are sent to Hosts besides GET and HEAD
}

// admits returns an error for a request that must not be sent.
func (s *services) admits(method string, u *url.URL) error {
	if s.network.Services && s.includes(u) {
		return nil
	}
	if err := hosts.List(s.network.Hosts).Admits(u); err != nil {
		return s.refusal(err)
	}
	if method == http.MethodGet || method == http.MethodHead || slices.Contains(s.network.Methods, method) {
		return nil
	}
	return s.refusal(fmt.Errorf("%s is %w; whoever starts Capstan allows it with --allow-method %[1]s", method, hosts.ErrRefused))
}

// dial connects to an address of an admitted request.
func (s *services) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.network.Services && s.has(address) {
		return (&net.Dialer{Timeout: s.limits.Answer}).DialContext(ctx, network, address)
	}
	return hosts.List(s.network.Hosts).Dial(ctx, network, address)
}

// refusal returns an error that reports that nothing was checked.
func (s *services) refusal(err error) error {
	if s.network.Services {
		return fmt.Errorf("not checked: %w", err)
	}
	return fmt.Errorf("not checked: %w (capstan validate-request: --allow-services)", err)
}
