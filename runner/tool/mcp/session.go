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

// A session is one connection to a server, from its handshake to its end. It
// is not mended: when it is dead the next call makes another one.
type session struct {
	*sdk.ClientSession
	child *child // nil for one that runs elsewhere
	lines *lines // of the child; else nil
	fault fault
	dead  chan struct{}
	die   sync.Once // closes dead

	mu    sync.Mutex
	tools []*sdk.Tool // as the server listed them; nil before it was asked
}

// legacy is the newest protocol version that begins with initialize. It goes
// first: many servers of that time end themselves at the question newer ones
// begin with, and a newer server that does not know it says so.
const legacy = "2025-11-25"

// connect reaches a server and shakes hands, in the time that ctx has.
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
	ctx, heard := listen(ctx)
	err = within(ctx, func() (err error) {
		client := sdk.NewClient(&sdk.Implementation{Name: "capstan", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
		opened, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
		return err
	})
	if err != nil {
		err = heard.explain(s.explain(err))
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
	s.child, s.lines = c, &lines{Closer: c.stdout, in: bufio.NewReaderSize(c.stdout, 64<<10), max: int(maxReply), fault: &s.fault}
	return &sdk.IOTransport{Reader: newExact(s.lines, maxReply, false, &s.fault), Writer: c.stdin, MaxLineLength: int(maxReply)}, nil
}

// within runs work to its end or to ctx's, whichever comes first, and turns a
// panic into an error. Work that ctx outran is left alone: it must not touch
// what the caller goes on to use.
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

// isDead tells whether the connection has ended.
func (s *session) isDead() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

// bury says that no further call goes this way, and clears up.
func (s *session) bury() {
	s.die.Do(func() {
		close(s.dead)
		go s.close()
	})
}

// close ends the session, politely for as long as grace.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.child != nil {
		s.child.close() // which also ends what the SDK waits for
	}
	_ = within(ctx, s.ClientSession.Close)
}

// errUnseen marks the error of a request that did not get to its session: the
// server does not know that any more, or is not there.
var errUnseen = errors.New("the session has expired")

// unseen marks an error without adding to its words.
type unseen struct{ error }

// Unwrap gives the error and the mark.
func (u unseen) Unwrap() []error { return []error{u.error, errUnseen} }

// call asks the server to run a tool.
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

// Bounds of what a server lists.
const (
	maxTools     = 1000
	maxDescribed = 1 << 20 // bytes of what it says of one tool
)

// list gives the server's tools, which it is asked for once in a session, or
// anew.
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
	ctx, heard := listen(ctx)
	err := within(ctx, func() error { return work(ctx) })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		go s.probe()
		return s.explain(err)
	}
	s.settle(err)
	if err = heard.explain(s.explain(err)); errors.Is(err, errUnseen) {
		s.bury()
	}
	return err
}

// settle makes sure that the next call does not meet a connection of which
// this one's error shows, or will show in a moment, that it has ended.
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

// ended tells whether err says that there is nobody at the other end: who reads
// of that from a child, who writes, and who writes after it was waited for, each
// get another error.
func ended(err error) bool {
	return errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// probe ends a session whose server does not answer at all, after a call that
// took too long: one that hangs is started anew for the next call, one that is
// merely slow is kept.
func (s *session) probe() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := within(ctx, func() error { return s.Ping(ctx, nil) })
	var answer *jsonrpc.Error
	if err != nil && !errors.As(err, &answer) {
		s.bury()
	}
}

// explain adds to an error of the connection what is known of its cause.
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
