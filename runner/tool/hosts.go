package tool

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// An allowList is the hosts that may be asked: "example.com", "*.example.com"
// for every name below it, "127.0.0.1" or "[::1]", each with ":port" behind it
// or else good for every port.
type allowList []string

// admits tells whether a URL may be fetched.
func (l allowList) admits(u *url.URL) error {
	switch {
	case len(l) == 0:
		return fmt.Errorf("no host is allowed: whoever starts the run allows one with --allow-host %.200s", cmp.Or(u.Hostname(), "example.com"))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%.40q is not http or https", u.Scheme)
	case u.User != nil:
		return fmt.Errorf("a URL with a user name or password in it is not fetched")
	}
	if l.has(u.Hostname(), cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")) {
		return nil
	}
	return fmt.Errorf("host %.200q is not allowed; allowed are %s", u.Host, strings.Join(l, ", "))
}

func (l allowList) has(host, port string) bool {
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

// splitEntry takes an entry of the list apart; port is empty where any will do.
func splitEntry(entry string) (host, port string) {
	if h, p, err := net.SplitHostPort(entry); err == nil {
		return hostKey(h), p
	}
	return hostKey(strings.Trim(entry, "[]")), ""
}

// hostKey is one spelling of a host: names in lower case without the last dot,
// addresses as netip writes them.
func hostKey(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// dial connects to a host of the list. What the name resolves to is checked on
// the address that is really dialled, so that a name cannot be bent towards
// the inside: an address that is not public must itself be in the list, or
// the loopback by the name localhost.
func (l allowList) dial(ctx context.Context, network, address string) (net.Conn, error) {
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
		return fmt.Errorf("%s is at the private address %s, which is not itself allowed", host, addr)
	}
	return d.DialContext(ctx, network, address)
}

// special are the blocks that IANA's special-purpose registries (RFC 6890 and
// its updates) keep from being ordinary public addresses, besides those that
// netip knows; the last four of them carry IPv4 addresses inside.
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

// public tells whether an address is an ordinary one of the internet.
func public(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}
