package inspectors

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxNotes is the maximum number of refusals, and of console errors, of a page.
const maxNotes = 20

// A proxy is an HTTP proxy on the loopback. It is a page's only way to the network, so it
// decides on every request that a page can make. It ends TLS itself: no request is hidden
// from it. Only the browser that it serves trusts its certificate.
type proxy struct {
	address string
	stop    func()
	admits  func(method string, u *url.URL) error
	forward *httputil.ReverseProxy
	tls     *tls.Config

	mu      sync.Mutex
	refused []string
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// serveProxy starts a proxy. It must be stopped.
func serveProxy(certificate tls.Certificate, admits func(method string, u *url.URL) error, dial dialer) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	p := &proxy{address: "http://" + l.Addr().String(), admits: admits, tls: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.RawQuery = r.In.URL.RawQuery },
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true, DisableCompression: true},
		ErrorLog:  quiet,
	}
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	go server.Serve(l)
	p.stop = func() { server.Close() }
	return p, nil
}

// ServeHTTP forwards an admitted request. It answers 403 to any other.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.tunnel(w, r.Host)
		return
	}
	if err := p.admits(r.Method, r.URL); err != nil {
		if !ofBrowser(r) {
			p.refuse(fmt.Sprintf("%s %s: %v", r.Method, clip(r.URL.Redacted(), 200), err))
		}
		w.WriteHeader(http.StatusForbidden)
		return
	}
	p.forward.ServeHTTP(w, r)
}

// ofBrowser reports whether the browser itself made a request, for example for the names of
// form fields. No page can send this header (Fetch Metadata, 2.3).
func ofBrowser(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

func (p *proxy) refuse(note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxNotes && !slices.Contains(p.refused, note) {
		p.refused = append(p.refused, note)
	}
}

// refusals returns the refused requests, each with its reason.
func (p *proxy) refusals() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// tlsHandshake is the first byte of a TLS connection (RFC 8446, 5.1).
const tlsHandshake = 22

// tunnel serves the requests that follow a CONNECT, with TLS or without (WebSockets).
func (p *proxy) tunnel(w http.ResponseWriter, host string) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if _, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	first, err := buffered.Peek(1)
	if err != nil {
		conn.Close()
		return
	}
	scheme := "http"
	conn = &peeked{conn, buffered.Reader}
	if first[0] == tlsHandshake {
		scheme, host = "https", strings.TrimSuffix(host, ":443")
		conn = tls.Server(conn, p.tls)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          p.forward.ErrorLog,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.URL.Scheme, r.URL.Host = scheme, host
			p.ServeHTTP(w, r)
		}),
	}
	_ = server.Serve(&single{Conn: conn})
}

// peeked is a connection of which a reader has the first bytes.
type peeked struct {
	net.Conn
	from *bufio.Reader
}

func (c *peeked) Read(b []byte) (int, error) { return c.from.Read(b) }

// single is a listener with one connection.
type single struct {
	net.Conn
	accepted bool
}

func (s *single) Accept() (net.Conn, error) {
	if s.accepted {
		return nil, io.EOF
	}
	s.accepted = true
	return s.Conn, nil
}

func (s *single) Addr() net.Addr { return s.LocalAddr() }

func (s *single) Close() error { return nil }

// newCertificate returns a new certificate and the hash of its key, as Chromium's
// --ignore-certificate-errors-spki-list takes it.
func newCertificate() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	hash := sha256.Sum256(public)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, base64.StdEncoding.EncodeToString(hash[:]), err
}
