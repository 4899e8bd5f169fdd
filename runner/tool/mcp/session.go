package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A session is a connection to a server. After its end, the next call creates
// another one.
type session struct {
	*sdk.ClientSession
	child *child      // nil for a server with a URL
	lines *lineReader // the output of the child; nil for a server with a URL
	fault fault
	dead  chan struct{}
	die   sync.Once // guards the close of dead

	mu    sync.Mutex
	tools []*sdk.Tool // the tools of the server; nil before they are listed
}

// legacy is the newest protocol version with an initialize request. It is tried first,
// because many older servers end at the first request of newer versions.
const legacy = "2025-11-25"

// connect connects to a server and performs the handshake within ctx.
func connect(ctx context.Context, server Server, maxReply int64) (*session, error) {
	s, err := handshake(ctx, server, maxReply, legacy)
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		modern, again := handshake(ctx, server, maxReply, "")
		if again == nil {
			return modern, nil
		}
	}
	return s, err
}

func handshake(ctx context.Context, server Server, maxReply int64, version string) (*session, error) {
	s := &session{dead: make(chan struct{})}
	transport, err := s.transport(server, maxReply)
	if err != nil {
		return nil, err
	}
	// The SDK would wait for a server that does not read.
	var opened *sdk.ClientSession
	ctx, log := logRequests(ctx)
	err = within(ctx, func() (err error) {
		client := sdk.NewClient(&sdk.Implementation{Name: "capstan", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
		opened, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
		return err
	})
	if err != nil {
		err = log.explain(s.explain(err))
		if s.child != nil {
			s.child.close()
		}
		return nil, err
	}
	s.ClientSession = opened
	go func() {
		_ = opened.Wait()
		s.bury()
	}()
	return s, nil
}

func (s *session) transport(server Server, maxReply int64) (sdk.Transport, error) {
	if server.URL != "" {
		b, err := newBounded(server, maxReply, &s.fault)
		if err != nil {
			return nil, err
		}
		return &sdk.StreamableClientTransport{
			Endpoint:             server.URL,
			HTTPClient:           &http.Client{Transport: b, CheckRedirect: sameHost},
			MaxRetries:           2,
			DisableStandaloneSSE: true,
			MaxEventSize:         int(maxReply),
		}, nil
	}
	c, err := start(server)
	if err != nil {
		return nil, err
	}
	s.child, s.lines = c, &lineReader{Closer: c.stdout, in: bufio.NewReaderSize(c.stdout, 64<<10), max: int(maxReply), fault: &s.fault}
	return &sdk.IOTransport{Reader: newExact(s.lines, maxReply, false, &s.fault), Writer: c.stdin, MaxLineLength: int(maxReply)}, nil
}

// within runs work until it returns or ctx ends. A panic becomes an error. Work that
// continues after ctx ended must not use values of the caller.
func within(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v", r)
			}
		}()
		done <- work()
	}()
	select {
	case err := <-done:
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isDead reports whether the connection has ended.
func (s *session) isDead() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

// bury marks the session as dead and closes it.
func (s *session) bury() {
	s.die.Do(func() {
		close(s.dead)
		go s.close()
	})
}

// close ends the session within grace.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.child != nil {
		s.child.close() // this also ends the reads of the SDK
	}
	_ = within(ctx, s.ClientSession.Close)
}

// errUnseen is the error of a request that its session did not receive. The server
// is unavailable or does not know the session.
var errUnseen = errors.New("the session has expired")

// An unseenError is an errUnseen with the message of another error.
type unseenError struct{ error }

// Unwrap returns the error and errUnseen.
func (u unseenError) Unwrap() []error { return []error{u.error, errUnseen} }

// call calls a tool of the server.
func (s *session) call(ctx context.Context, name string, arguments map[string]any) (*sdk.CallToolResult, error) {
	var result *sdk.CallToolResult
	err := s.do(ctx, func(ctx context.Context) (err error) {
		result, err = s.CallTool(ctx, &sdk.CallToolParams{Meta: traced(ctx), Name: name, Arguments: arguments})
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// The limits for the tools of a server.
const (
	maxTools     = 1000
	maxDescribed = 1 << 20 // the maximum size of a tool's description in bytes
)

// list returns the tools of the server. It requests the list once per session. If anew
// is set, it requests the list again.
func (s *session) list(ctx context.Context, anew bool) ([]*sdk.Tool, error) {
	s.mu.Lock()
	known := s.tools
	s.mu.Unlock()
	if known != nil && !anew {
		return known, nil
	}
	listed := []*sdk.Tool{}
	err := s.do(ctx, func(ctx context.Context) error {
		for t, err := range s.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			if listed = append(listed, t); len(listed) > maxTools {
				return fmt.Errorf("it lists more than %d tools", maxTools)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = listed
	return listed, nil
}

func (s *session) do(ctx context.Context, work func(context.Context) error) error {
	ctx, log := logRequests(ctx)
	err := within(ctx, func() error { return work(ctx) })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		go s.probe()
		return s.explain(err)
	}
	s.settle(err)
	if err = log.explain(s.explain(err)); errors.Is(err, errUnseen) {
		s.bury()
	}
	return err
}

// settle marks the session as dead if the error shows that the connection has ended. It
// waits a moment, because the connection may be ending.
func (s *session) settle(err error) {
	var answer *jsonrpc.Error
	switch {
	case errors.As(err, &answer):
	case ended(err), errors.Is(err, sdk.ErrSessionMissing):
		s.bury()
	default:
		select {
		case <-s.dead:
		case <-time.After(grace / 40):
		}
	}
}

// ended reports whether the error means that the connection has ended. Reading from a
// child, writing to it, and writing after its end have different errors.
func ended(err error) bool {
	return errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// probe pings a server after a timeout. If the server does not answer, the session
// ends, and the next call starts another one.
func (s *session) probe() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := within(ctx, func() error { return s.Ping(ctx, nil) })
	var answer *jsonrpc.Error
	if err != nil && !errors.As(err, &answer) {
		s.bury()
	}
}

// explain adds the known cause to an error of the connection.
func (s *session) explain(err error) error {
	var answer *jsonrpc.Error
	switch {
	case err == nil, errors.As(err, &answer):
		return err
	case s.fault.Load() != nil:
		return *s.fault.Load()
	case s.child != nil && ended(err):
		err = fmt.Errorf("%w%s", err, s.child.fault())
	}
	if s.lines != nil && s.lines.Noise() != "" {
		err = fmt.Errorf("%w; it printed text that is not a message: %q", err, s.lines.Noise())
	}
	return err
}
