package serve

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections end in the test.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// The type still is a store that never changes.
type still struct{ Store }

func (still) Version(context.Context) (int64, error) { return 0, nil }

// TestSlowClients checks the limits for clients that do not send or receive.
func TestSlowClients(t *testing.T) {
	for name, request := range map[string]string{
		"half a header":          "GET / HT",
		"no body":                "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\ntok",
		"no body, refused":       "POST /runs/x/cancel HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"a stream, refused":      "GET /live HTTP/1.1\r\nHost: x\r\n\r\n",
		"an answer is not taken": "GET /static/htmx.min.js HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := New(Options{Store: still{}, Addr: "0.0.0.0:1", Token: "a-token-of-many-characters"})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				l, served := make(pipes), make(chan error, 1)
				go func() { served <- s.Serve(ctx, l) }()
				client, server := net.Pipe()
				l <- server
				if _, err := io.WriteString(client, request); err != nil {
					t.Fatal(err)
				}
				time.Sleep(maxJudging + 2*maxTaking)
				begun := time.Now()
				if _, err := io.Copy(io.Discard, client); err != nil {
					t.Error(err)
				}
				if time.Since(begun) > 0 {
					t.Errorf("it was held for another %v", time.Since(begun))
				}
				client.Close()
				stop()
				close(l)
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
