// Package mcp uses the tools of MCP servers: as tools of a phase and as
// validators.
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

	"github.com/seed61713e19/capstan/runner/internal/fences"
	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/runner/spellings"
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
	noisy  map[string]noisy // servers that were started, by server: the first session of each
	closed bool
}

// noisy is a server that may print what is no message.
type noisy struct {
	Server
	*lines
}

// met notes a session whose server may print what it should not.
func (c *Client) met(s Server, live *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noisy == nil {
		c.noisy = map[string]noisy{}
	}
	if _, known := c.noisy[s.key()]; !known && live.lines != nil {
		c.noisy[s.key()] = noisy{s, live.lines}
	}
}

// Notes tells what is odd about the servers that were used, a line for each: it
// did no harm, but is worth mending.
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
		if d.session, d.err = connect(ctx, s, cmp.Or(max(c.MaxReply, 0), DefaultMaxReply)); d.err == nil {
			c.met(s, d.session)
		}
	}()
	return d, nil
}

func (c *Client) timeout() time.Duration { return cmp.Or(max(c.Timeout, 0), DefaultTimeout) }

// bounded is ctx for one thing that a server is asked.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout(), fmt.Errorf("no answer within %s", c.timeout()))
}

// ask has a session with the server do something, and once more with another
// one where the server has not seen it. A server that there is no session with
// is [tool.ErrGone].
func (c *Client) ask(ctx context.Context, s Server, what func(context.Context, *session) error) error {
	try := func() error {
		live, err := c.session(ctx, s)
		if err != nil {
			return tool.Gone(err)
		}
		ctx, cancel := c.bounded(ctx)
		defer cancel()
		return what(ctx, live)
	}
	err := try()
	if errors.Is(err, errUnseen) && !errors.Is(err, tool.ErrGone) {
		err = try()
	}
	if err != nil {
		return named(s, err)
	}
	return nil
}

// named says whose error it is, bounds it, for the SDK quotes what it cannot
// read, and takes out what is not to be told.
func named(s Server, err error) error {
	text := process.Conceal(s.lent(), err.Error())
	if text = clip(text); text == err.Error() {
		return fmt.Errorf("mcp server %s: %w", s, err)
	}
	told := fmt.Errorf("mcp server %s: %s", s, text)
	if errors.Is(err, tool.ErrGone) {
		told = tool.Gone(told)
	}
	return told
}

// call runs a tool of a server. One that the server does not have, or not any
// more, is [tool.ErrGone].
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
	// Servers tell of a tool that they do not have in many ways.
	if errors.As(err, &answer) || err == nil && result.IsError && strings.Contains(textOf(result), name) {
		if _, missing := c.find(ctx, s, name, true); errors.Is(missing, tool.ErrGone) {
			return nil, missing
		}
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// find gives one tool of a server. One that it does not list is [tool.ErrGone].
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
	if !anew { // it may be new
		return c.find(ctx, s, name, true)
	}
	said := fmt.Sprintf("no tool is called %q; there are %s", name, strings.Join(names, ", "))
	if len(names) == 0 {
		said = fmt.Sprintf("no tool is called %q: it has none", name)
	}
	if meant := spellings.Nearest(name, names); meant != "" {
		said = fmt.Sprintf("no tool is called %q, did you mean %q?", name, meant)
	}
	return nil, tool.Gone(named(s, errors.New(said)))
}

// describe gives the description and the parameters of one tool of a server.
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

// params is a tool's input schema as a plain value.
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

// Tool is a tool of a server. The server is reached when the tool is first
// called or described. A tool that reports an error, and a server that does not
// answer, are failed results; a server that cannot be reached, and a tool that
// it does not have, are [tool.ErrGone].
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
