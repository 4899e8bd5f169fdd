package inspectors

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/seed61713e19/capstan/internal/hosts"
)

// A Network is what an inspector may connect to. Its zero value allows no service.
type Network struct {
	Services bool     // every service that a request names, with every method
	Hosts    []string // "name", "name:port", "*.name" or an address, as http_get takes them
	Methods  []string // methods that are sent besides GET and HEAD
}

// admits returns an error for a request that must not be sent.
func (n Network) admits(method string, u *url.URL) error {
	if n.Services {
		return nil
	}
	if err := hosts.List(n.Hosts).Admits(u); err != nil {
		return refusal(err)
	}
	if method == http.MethodGet || method == http.MethodHead || slices.Contains(n.Methods, method) {
		return nil
	}
	return refusal(fmt.Errorf("%s is %w; whoever starts Capstan allows it with --allow-method %[1]s", method, hosts.ErrRefused))
}

// admitsPort returns an error for a port that must not be connected to.
func (n Network) admitsPort(host, port string) error {
	if n.Services {
		return nil
	}
	if err := hosts.List(n.Hosts).AdmitsAddress(host, port); err != nil {
		return refusal(err)
	}
	return nil
}

// refusal is an error that says that nothing was checked.
func refusal(err error) error {
	return fmt.Errorf("not checked: %w (capstan validate-request: --allow-services)", err)
}
