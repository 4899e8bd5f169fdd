package inspectors

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestProxyDecides sends requests as a browser does: plain ones, and in a tunnel with TLS
// and without.
func TestProxyDecides(t *testing.T) {
	t.Parallel()
	site := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			fmt.Fprintf(w, "%s %s", r.Method, r.RequestURI)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello")
	})
	host := strings.TrimPrefix(site.URL, "http://")
	certificate, _, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	// The upstream of https requests is reached without TLS, for a test has no certificate.
	admits := func(method string, u *url.URL) error {
		if u.Host != host || method == http.MethodPost {
			return errors.New("refused")
		}
		u.Scheme = "http"
		return nil
	}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != host {
			t.Errorf("connects to %s", address)
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	p, err := serveProxy(certificate, admits, dial)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	at, _ := url.Parse(p.address)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, c := range []struct{ method, url, want string }{
		{"GET", "http://" + host + "/a?b;c=%zz", "200 GET /a?b;c=%zz"},
		{"GET", "https://" + host + "/a", "200 GET /a"},
		{"POST", "http://" + host + "/a", "403 "},
		{"POST", "https://" + host + "/a", "403 "},
		{"GET", "http://elsewhere.example/a", "403 "},
		{"GET", "https://elsewhere.example/a", "403 "},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		got, err := client.Do(r)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.url, err)
			continue
		}
		body, _ := io.ReadAll(got.Body)
		got.Body.Close()
		if text := fmt.Sprintf("%d %s", got.StatusCode, body); text != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.url, text, c.want)
		}
	}
	const upgrade = "GET /s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	for _, c := range []struct{ to, send, want string }{
		{host, upgrade, "HTTP/1.1 101 "},
		{"elsewhere.example:80", upgrade, "HTTP/1.1 403 "},
		{host, "SSH-2.0-x\r\n\r\n", "HTTP/1.1 400 "},
	} {
		if got := tunnelled(t, p, c.to, c.send); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: got %q", c.to, c.send, got)
		}
	}
	want := []string{
		"POST http://" + host + "/a: refused", "POST https://" + host + "/a: refused", "GET http://elsewhere.example/a: refused",
		"GET https://elsewhere.example/a: refused", "GET http://elsewhere.example:80/s: refused",
	}
	if got := p.refusals(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// tunnelled returns the first line of the answer to a text in a tunnel.
func tunnelled(t *testing.T, p *proxy, to, text string) string {
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n%s", to, text)
	lines := bufio.NewReader(conn)
	_, _ = lines.ReadString('\n')
	_, _ = lines.ReadString('\n')
	answer, _ := lines.ReadString('\n')
	return answer
}

// TestProxyKey checks that an ordinary client does not trust the certificate of
// a proxy.
func TestProxyKey(t *testing.T) {
	t.Parallel()
	certificate, _, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	p, err := serveProxy(certificate, func(string, *url.URL) error { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	at, _ := url.Parse(p.address)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	if got, err := client.Get("https://example.com/"); err == nil {
		got.Body.Close()
		t.Error("a client trusts the proxy")
	}
}
