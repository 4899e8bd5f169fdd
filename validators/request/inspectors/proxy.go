package inspectors

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/seed61713e19/capstan/internal/hosts"
)

// serveProxy starts an HTTP proxy on the loopback that connects to the allowed hosts
// alone. A Chromium resolves names and connects by itself; through the proxy it reaches
// no address that [hosts.List.Dial] refuses, whatever a page does.
func serveProxy(allowed hosts.List) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	p := &proxy{allowed, &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // the URL of the request is the whole one
		Transport: &http.Transport{DialContext: allowed.Dial, DisableKeepAlives: true},
		ErrorLog:  quiet,
	}}
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	go server.Serve(l)
	return "http://" + l.Addr().String(), func() { server.Close() }, nil
}

type proxy struct {
	allowed hosts.List
	plain   *httputil.ReverseProxy
}

// ServeHTTP passes a request on, or with CONNECT a connection.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if err == nil && r.Method == http.MethodConnect {
		err = p.allowed.AdmitsAddress(host, port)
	} else {
		err = p.allowed.Admits(r.URL)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusForbidden)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	default:
		p.plain.ServeHTTP(w, r)
	}
}

// tunnel connects the client with the host of a CONNECT until one of them ends.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	there, err := p.allowed.Dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(there, here); ended <- struct{}{} }()
	go func() { _, _ = io.Copy(here, there); ended <- struct{}{} }()
	<-ended
}
