// Package mcp uses the tools of MCP servers: as tools of a phase and as
// validators.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
)

// What holds where a [Client] says nothing.
const (
	DefaultTimeout  = 60 * time.Second
	DefaultMaxReply = 4 << 20 // bytes
)

// ErrClosed is the error of a call on a client that was closed.
var ErrClosed = errors.New("the client is closed")

// A Client holds the connections to MCP servers, one for each, made when it is
// first needed and again when it broke. The zero value is ready for use. It is
// safe for concurrent use, and must be closed for the servers it started to
// end.
//
// A call that a server did not live to answer is an error, and is not made
// again: nobody knows what it has done.
type Client struct {
	Timeout  time.Duration // of a start, of a listing of tools, of a call, each; 0: DefaultTimeout
	MaxReply int64         // bytes of one message of a server; 0: DefaultMaxReply

	mu     sync.Mutex
	dials  map[string]*dial // the latest, by server
	closed bool
}

// A dial is a session in the making or made.
type dial struct {
	done    chan struct{}
	cancel  context.CancelCauseFunc
	session *session // once done is closed
	err     error
}

// over tells whether a dial is of no use any more.
func (d *dial) over() bool {
	select {
	case <-d.done:
		return d.err != nil || d.session.isDead()
	default:
		return false
	}
}

// Close ends all connections and the servers that were started, and waits for
// that, a few seconds at most. Calls from then on are an [ErrClosed].
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

// session gives a live session with the server. Who starts it does so for all:
// a caller that gives up does not take it away from the others.
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
		d.session, d.err = connect(ctx, s, c.maxReply())
	}()
	return d, nil
}

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

func (c *Client) maxReply() int64 {
	if c.MaxReply > 0 {
		return c.MaxReply
	}
	return DefaultMaxReply
}

// bounded is ctx for one thing that a server is asked.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout(), fmt.Errorf("no answer within %s", c.timeout()))
}

// call runs a tool of a server.
func (c *Client) call(ctx context.Context, s Server, name string, arguments map[string]any) (*sdk.CallToolResult, error) {
	result, err := c.try(ctx, s, name, arguments)
	if errors.Is(err, errExpired) {
		result, err = c.try(ctx, s, name, arguments)
	}
	if err != nil {
		return nil, named(s, err)
	}
	return result, nil
}

// named says whose error it is, and bounds it: the SDK quotes what it cannot
// read.
func named(s Server, err error) error {
	if text := err.Error(); len(text) > maxTail {
		err = errors.New(clip(text))
	}
	return fmt.Errorf("mcp server %s: %w", s, err)
}

func (c *Client) try(ctx context.Context, s Server, name string, arguments map[string]any) (*sdk.CallToolResult, error) {
	live, err := c.session(ctx, s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	return live.call(ctx, name, arguments)
}

// list gives the tools of a server.
func (c *Client) list(ctx context.Context, s Server) ([]*sdk.Tool, error) {
	live, err := c.session(ctx, s)
	if err == nil {
		ctx, cancel := c.bounded(ctx)
		defer cancel()
		var list []*sdk.Tool
		if list, err = live.list(ctx); err == nil {
			return list, nil
		}
	}
	return nil, named(s, err)
}

// describe gives the description and the parameters of one tool of a server.
func (c *Client) describe(ctx context.Context, s Server, name string) (string, map[string]any, error) {
	list, err := c.list(ctx, s)
	if err != nil {
		return "", nil, err
	}
	names := make([]string, len(list))
	for i, t := range list {
		if names[i] = t.Name; t.Name == name {
			params, err := params(t)
			return t.Description, params, err
		}
	}
	return "", nil, fmt.Errorf("mcp server %s: no tool is called %q; there are %s", s, name, strings.Join(names, ", "))
}

// params is a tool's input schema as a plain value.
func params(t *sdk.Tool) (map[string]any, error) {
	plain, err := schema.Plain(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("input schema of %s: %w", t.Name, err)
	}
	params, ok := plain.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("input schema of %s: not an object", t.Name)
	}
	return params, nil
}

// Tool is a tool of a server. The server is reached when the tool is first
// called or described. A tool that reports an error, and a server that cannot
// be reached or does not answer, are failed results.
func (c *Client) Tool(s Server, name string) tool.Tool {
	ask := func(ctx context.Context) (string, map[string]any, error) { return c.describe(ctx, s, name) }
	return tool.Remote(name, ask, c.runner(s, name))
}

// Tools gives all tools of a server, described, in its order.
func (c *Client) Tools(ctx context.Context, s Server) ([]tool.Tool, error) {
	list, err := c.list(ctx, s)
	if err != nil {
		return nil, err
	}
	tools := make([]tool.Tool, len(list))
	for i, t := range list {
		params, err := params(t)
		if err != nil {
			return nil, named(s, err)
		}
		tools[i] = tool.Declared(t.Name, t.Description, params, c.runner(s, t.Name))
	}
	return tools, nil
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
		return valueOf(result), nil
	}
}
