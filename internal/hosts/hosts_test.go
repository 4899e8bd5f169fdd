package hosts

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// The test gives a host by its address, as a resolver that an attacker controls would.
func TestDialChecksAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	for _, list := range []List{{"example.com"}, {"*.example.com"}, {"localhost"}, {"127.0.0.1:1"}, nil} {
		conn, err := list.Dial(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "private address 127.0.0.1, which is itself not allowed") {
			t.Errorf("%v: got %v", list, err)
		}
	}
	conn, err := List{"127.0.0.1"}.Dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "172.15.0.1": true, "172.32.0.1": true, "100.128.0.1": true,
		"127.0.0.1": false, "127.9.9.9": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"0.0.0.0": false, "0.1.2.3": false, "100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false, "224.0.0.1": false,
		"240.0.0.1": false, "255.255.255.255": false, "::1": false, "::": false, "fe80::1": false, "fc00::1": false, "fd12::1": false,
		"ff02::1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false, "fec0::1": false, "::ffff:10.0.0.1": false,
	} {
		if got := public(netip.MustParseAddr(text).Unmap()); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestAllowList(t *testing.T) {
	l := List{"Example.com", "*.corp.test:8443", "[2606:4700::1]:80", "192.0.2.7"}
	for address, want := range map[string]bool{
		"example.com 80": true, "EXAMPLE.COM. 9": true, "a.example.com 80": false,
		"a.corp.test 8443": true, "a.b.corp.test 8443": true, "corp.test 8443": false, "a.corp.test 443": false, ".corp.test 8443": true,
		"2606:4700:0::1 80": true, "2606:4700::1 443": false, "192.0.2.7 1": true, "::ffff:192.0.2.7 1": true, " 80": false,
	} {
		host, port, _ := strings.Cut(address, " ")
		if got := l.has(host, port); got != want {
			t.Errorf("%s: got %v", address, got)
		}
	}
	for _, l := range []List{{""}, {"*."}, {"*"}, {":80"}} {
		if l.has("example.com", "80") || l.has("", "80") {
			t.Errorf("%q admits something", l)
		}
	}
}

func FuzzAllowList(f *testing.F) {
	f.Add("*.example.com", "a.example.com", "80")
	f.Add("[::1]:80", "::1", "80")
	f.Add("::ffff:1.2.3.4", "1.2.3.4", "443")
	f.Fuzz(func(t *testing.T, entry, host, port string) {
		if !(List{entry}).has(host, port) {
			return
		}
		name, _ := splitEntry(entry)
		if below, ok := strings.CutPrefix(name, "*"); name != hostKey(host) && (!ok || !strings.HasSuffix(hostKey(host), below)) {
			t.Errorf("%q admits %q", entry, host)
		}
	})
}
