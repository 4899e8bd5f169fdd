// Package hosts says which hosts Capstan may connect to when a model, a client or a
// document names the address.
package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A List is the hosts that an operator allows: "example.com", "*.example.com" for every
// name below it, "127.0.0.1" or "[::1]", each with ":port", or else for every port. An
// address that is not public must itself be in the list, whatever name leads to it; the
// loopback may also be in it as localhost.
type List []string

// ErrRefused reports an address that is not allowed.
var ErrRefused = errors.New("not allowed")

// Admits returns an error for a URL that must not be requested.
func (l List) Admits(u *url.URL) error {
	switch {
	case len(l) > 0 && u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%.40q is not http or https", u.Scheme)
	case len(l) > 0 && u.User != nil:
		return errors.New("URLs with a user name or password are not fetched")
	}
	return l.AdmitsAddress(u.Hostname(), cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80"))
}

// AdmitsAddress returns an error for a host and port that must not be connected to.
func (l List) AdmitsAddress(host, port string) error {
	if l.has(host, port) {
		return nil
	}
	at := fmt.Sprintf("%.200s", net.JoinHostPort(host, port))
	allowed := cmp.Or(strings.Join(l, ", "), "none")
	return fmt.Errorf("host %q is %w; allowed are %s; whoever starts Capstan allows it with --allow-host %s", at, ErrRefused, allowed, at)
}

func (l List) has(host, port string) bool {
	host = hostKey(host)
	_, err := netip.ParseAddr(host)
	isName := err != nil
	for _, entry := range l {
		name, only := splitEntry(entry)
		if only != "" && only != port {
			continue
		}
		if below, ok := strings.CutPrefix(name, "*."); ok {
			if isName && below != "" && strings.HasSuffix(host, "."+below) {
				return true
			}
		} else if name == host && host != "" {
			return true
		}
	}
	return false
}

// splitEntry splits an entry of the list; an empty port stands for every port.
func splitEntry(entry string) (host, port string) {
	if h, p, err := net.SplitHostPort(entry); err == nil {
		return hostKey(h), p
	}
	return hostKey(strings.Trim(entry, "[]")), ""
}

// hostKey returns one spelling of a host: names in lower case without the last dot,
// addresses as netip writes them.
func hostKey(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// Dial connects to a host that [List.Admits] has admitted. It checks the address that the
// name resolves to again, on the very address it connects to: an address that is not
// public must itself be in the list, or be the loopback by the name localhost.
func (l List) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: 10 * time.Second}
	d.Control = func(_, resolved string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return err
		}
		addr := to.Addr().Unmap().WithZone("")
		if public(addr) || l.has(addr.String(), fmt.Sprint(to.Port())) {
			return nil
		}
		if addr.IsLoopback() && hostKey(host) == "localhost" {
			return nil
		}
		return fmt.Errorf("%s is at the private address %s, which is itself %w", host, addr, ErrRefused)
	}
	return d.DialContext(ctx, network, address)
}

// special lists the blocks of IANA's special-purpose registries (RFC 6890 and its
// updates) that are no ordinary public addresses, besides those that netip knows. The
// last four contain IPv4 addresses.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
	"64:ff9b::/96", "64:ff9b:1::/48", "2001::/23", "2002::/16",
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		list[i] = netip.MustParsePrefix(t)
	}
	return list
}

// public reports whether an address is an ordinary one of the internet.
func public(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}
