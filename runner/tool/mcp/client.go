// Package mcp uses the tools of MCP servers, as tools of a phase and as
// validators.
//
// A [Client] connects to a [Server], which is a program or a URL. [Client.Tool] returns
// a tool and [Client.Validator] a validator. For example:
//
//	var c mcp.Client
//	defer c.Close()
//	search := c.Tool(mcp.Server{URL: "http://127.0.0.1:8080/mcp"}, "search")
//	result, err := search.Run(ctx, tool.Call{Arguments: map[string]any{"query": "owls"}})
//
// The client connects at the first call and again after the connection is lost. The
// protocol is that of the SDK. This package adds limits for replies (bounded.go) and
// exact numbers (exact.go). It manages the processes of servers (child.go), their
// output that is not a message (lines.go) and the cause of an error. Begin with
// client.go, then session.go.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/fences"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/spellings"
	"github.com/seed61713e19/capstan/runner/tool"
)

// ErrClosed is the error of a call with a closed client.
var ErrClosed = errors.New("the client is closed")

// A Client has the connections to MCP servers. It connects to a server at the first
// call, and again after the connection is lost. The zero value is ready for use. It is
// safe for concurrent use. Close ends the servers that it started.
//
// If a server ends during a call, the call fails. The client does not repeat it,
// because its effect is unknown.
type Client struct {
	Timeout  time.Duration // the limit for each start, listing and call; default: 60 s
	MaxReply int64         // the maximum size of a message in bytes; default: 4 MiB

	mu     sync.Mutex
	dials  map[string]*dial       // the latest dial of each server
	noisy  map[string]noisyServer // the first session of each server that the client started
	closed bool
}

// A noisyServer is a server that may print text that is not a message.
type noisyServer struct {
	Server
	*lineReader
}

// addNoisy stores a session with a server that may print other text than
// messages.
func (c *Client) addNoisy(s Server, live *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noisy == nil {
		c.noisy = map[string]noisyServer{}
	}
	if _, known := c.noisy[s.key()]; !known && live.lines != nil {
		c.noisy[s.key()] = noisyServer{s, live.lines}
	}
}

// Notes returns one line for each server that prints text that is not a
// message.
func (c *Client) Notes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, n := range c.noisy {
		if noise := n.Noise(); noise != "" {
			list = append(list, fmt.Sprintf("mcp server %s prints text that is not a message, such as %q: print it to standard error instead", n, process.Conceal(n.lent(), noise)))
		}
	}
	slices.Sort(list)
	return list
}

// A dial is a connection attempt and its session.
type dial struct {
	done    chan struct{}
	cancel  context.CancelCauseFunc
	session *session // set when done is closed
	err     error
}

// over reports whether the dial failed or its session has ended.
func (d *dial) over() bool {
	select {
	case <-d.done:
		return d.err != nil || d.session.isDead()
	default:
		return false
	}
}

// Close ends all connections and the servers that the client started. It waits a few
// seconds at most. Later calls return [ErrClosed].
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	dials := c.dials
	c.dials = nil
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, d := range dials {
		all.Go(func() {
			d.cancel(ErrClosed)
			if <-d.done; d.err == nil {
				d.session.close()
			}
		})
	}
	all.Wait()
	return nil
}

// session returns a live session with the server. Parallel callers share one dial, and
// a caller whose context ends does not cancel it.
func (c *Client) session(ctx context.Context, s Server) (*session, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d, err := c.dial(s)
	if err != nil {
		return nil, err
	}
	select {
	case <-d.done:
		return d.session, d.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *Client) dial(s Server) (*dial, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if d := c.dials[s.key()]; d != nil && !d.over() {
		return d, nil
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	d := &dial{done: make(chan struct{}), cancel: cancel}
	if c.dials == nil {
		c.dials = map[string]*dial{}
	}
	c.dials[s.key()] = d
	go func() {
		defer close(d.done)
		ctx, stop := context.WithTimeoutCause(ctx, c.timeout(), fmt.Errorf("not ready within %s", c.timeout()))
		defer stop()
		if d.session, d.err = connect(ctx, s, cmp.Or(max(c.MaxReply, 0), 4<<20)); d.err == nil {
			c.addNoisy(s, d.session)
		}
	}()
	return d, nil
}

func (c *Client) timeout() time.Duration { return cmp.Or(max(c.Timeout, 0), 60*time.Second) }

// bounded returns ctx with the timeout of the client.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout(), fmt.Errorf("no answer within %s", c.timeout()))
}

// ask calls the function what with a session. If the session did not receive the
// request, ask repeats the call with another session, at most once. If there is
// no session, the error is [tool.ErrUnavailable].
func (c *Client) ask(ctx context.Context, s Server, what func(context.Context, *session) error) error {
	try := func() error {
		live, err := c.session(ctx, s)
		if err != nil {
			return tool.Unavailable(err)
		}
		ctx, cancel := c.bounded(ctx)
		defer cancel()
		return what(ctx, live)
	}
	err := try()
	if errors.Is(err, errUnseen) && !errors.Is(err, tool.ErrUnavailable) {
		err = try()
	}
	if err != nil {
		return named(s, err)
	}
	return nil
}

// named adds the server to an error, cuts its text, and replaces secrets in it.
func named(s Server, err error) error {
	text := process.Conceal(s.lent(), err.Error())
	if text = clip(text); text == err.Error() {
		return fmt.Errorf("mcp server %s: %w", s, err)
	}
	hidden := fmt.Errorf("mcp server %s: %s", s, text)
	if errors.Is(err, tool.ErrUnavailable) {
		hidden = tool.Unavailable(hidden)
	}
	return hidden
}

// call calls a tool of a server. If the server has no such tool, the error is
// [tool.ErrUnavailable].
func (c *Client) call(ctx context.Context, s Server, name string, arguments map[string]any) (*sdk.CallToolResult, error) {
	var result *sdk.CallToolResult
	err := c.ask(ctx, s, func(ctx context.Context, live *session) (err error) {
		if err := fences.Check(ctx); err != nil {
			return err
		}
		result, err = live.call(ctx, name, arguments)
		return err
	})
	var answer *jsonrpc.Error
	// Servers report an unknown tool in different ways.
	if errors.As(err, &answer) || err == nil && result.IsError && strings.Contains(textOf(result), name) {
		if _, missing := c.find(ctx, s, name, true); errors.Is(missing, tool.ErrUnavailable) {
			return nil, missing
		}
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// find returns a tool of a server. If the server does not list it, the error is
// [tool.ErrUnavailable].
func (c *Client) find(ctx context.Context, s Server, name string, anew bool) (*sdk.Tool, error) {
	var list []*sdk.Tool
	err := c.ask(ctx, s, func(ctx context.Context, live *session) (err error) {
		list, err = live.list(ctx, anew)
		return err
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, t := range list {
		if names[i] = t.Name; t.Name == name {
			return t, nil
		}
	}
	if !anew { // the tool may be new
		return c.find(ctx, s, name, true)
	}
	message := fmt.Sprintf("no tool is called %q; there are %s", name, strings.Join(names, ", "))
	if len(names) == 0 {
		message = fmt.Sprintf("no tool is called %q: it has none", name)
	}
	if meant := spellings.Nearest(name, names); meant != "" {
		message = fmt.Sprintf("no tool is called %q, did you mean %q?", name, meant)
	}
	return nil, tool.Unavailable(named(s, errors.New(message)))
}

// describe returns the description and the parameters of a tool.
func (c *Client) describe(ctx context.Context, s Server, name string) (string, map[string]any, error) {
	t, err := c.find(ctx, s, name, false)
	if err != nil {
		return "", nil, err
	}
	params, err := params(t)
	if err != nil {
		return "", nil, named(s, err)
	}
	return t.Description, params, nil
}

// params returns the input schema of a tool as a plain value.
func params(t *sdk.Tool) (map[string]any, error) {
	if text, err := json.Marshal(t); err != nil || len(text) > maxDescribed {
		return nil, fmt.Errorf("tool %s: it is described in more than %d bytes", t.Name, maxDescribed)
	}
	plain, err := schema.Plain(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("input schema of %s: %w", t.Name, err)
	}
	params, ok := plain.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the input schema of %s must be an object", t.Name)
	}
	return params, nil
}

// Tool returns a tool of a server. The client connects when the tool is first called or
// described. An error of the tool, or a server that does not answer, is a failed
// result. Without a connection, or if the tool does not exist, the error is
// [tool.ErrUnavailable].
func (c *Client) Tool(s Server, name string) tool.Tool {
	ask := func(ctx context.Context) (string, map[string]any, error) { return c.describe(ctx, s, name) }
	return tool.Remote(name, ask, c.runner(s, name))
}

func (c *Client) runner(s Server, name string) func(context.Context, tool.Call) (any, error) {
	return func(ctx context.Context, call tool.Call) (any, error) {
		result, err := c.call(ctx, s, name, call.Arguments)
		if err != nil {
			return nil, err
		}
		if result.IsError {
			return nil, errors.New(textOf(result))
		}
		return valueOf(result)
	}
}
