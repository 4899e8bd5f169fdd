// Package mcpserver offers Capstan to MCP clients over two streams: gates, tools and
// cascades, each as a tool of its own, and beside them run, lint and
// validate_request.
//
// [Options] say what is offered, and each becomes an offer (offer.go): a name, the
// schema of its arguments, and what a call does. A call comes in as a line, is
// checked against the schema, and goes to a gate or tool (gate.go), a run (run.go,
// ask.go where it asks the client's user), or what only looks (look.go); what comes
// of it goes out as a line, without secrets (clean.go).
//
// A verdict, also a no, is a result like any other. A result that is an error says
// that something broke, or that the call was not as it has to be: a client's model is
// to mend its text by the one, and not by the other. Parameters that the operator has
// fixed are not in the schema, so that no client sees or chooses them. The protocol is
// the SDK's; the connection is not (wire.go), for the SDK's ends at the first line
// that is no message, and with the input, before calls under way are answered.
//
// Files that a call names are below Root (root.go), and start programs only where
// Programs says so. Nothing but messages is written to the stream of messages.
//
// Begin with [New], then offer.go.
package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
)

// What holds where [Options] say nothing.
const (
	DefaultMaxMessage = 64 << 20 // bytes
	DefaultLimit      = 16
)

// Options say what a server offers.
type Options struct {
	Version  string
	Gates    []Gate
	Tools    []Tool
	Cascades map[string]*cascades.Cascade // by the names of their tools
	Only     []string                     // of all that is offered, by name; empty: all of it

	Judge *runner.Runner // asks the model of gates that are judges
	Runs  Runs           // makes the runs; nil: nothing is run
	Kept  bool           // runs are kept, and can be gone on with
	Limit int            // how many runs there may be at once, further ones wait; 0: DefaultLimit

	Root     string         // the directory that files named by a call are in; "": the working directory
	Programs bool           // files that a call names may start programs
	Known    cascades.Known // what such files may name

	// Validate validates a request of the validation request protocol, as JSON,
	// and gives the response; nil: that is not offered.
	Validate func(ctx context.Context, request []byte) (response any, err error)

	Clean      func(string) string // takes secrets out of a text; nil: there are none
	Log        *slog.Logger        // nil: nothing is logged
	MaxMessage int                 // bytes of one message of a client; 0: DefaultMaxMessage
}

// A Server serves one client at a time. Make one with [New].
type Server struct {
	o     Options
	sdk   *sdk.Server
	seats chan struct{} // a place for each run

	mu    sync.Mutex
	asked map[string]open // runs that wait for answers of the client, by name
}

// instructions are what a client's model is told of the server.
const instructions = "Each gate judges a text and gives a verdict: valid false is an answer, with the reason to mend the text by, while an error means that there is no verdict. " +
	"Cascades run to their end and give the text that has passed all of their gates, or say which gate refused it and why."

// New makes a server. An error is the operator's mistake: names that collide
// or cannot be a tool's, parameters that a gate does not take.
func New(o Options) (*Server, error) {
	o.MaxMessage = cmp.Or(o.MaxMessage, DefaultMaxMessage)
	o.Limit = cmp.Or(o.Limit, DefaultLimit)
	o.Root = cmp.Or(o.Root, ".")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{o: o, seats: make(chan struct{}, o.Limit), asked: map[string]open{}}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "capstan", Title: "Capstan", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: o.Log, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	offers, err := s.offers()
	if err != nil {
		return nil, err
	}
	if offers, err = only(o.Only, offers); err != nil {
		return nil, err
	}
	for _, f := range offers {
		s.sdk.AddTool(&f.tool, s.handler(f))
	}
	return s, nil
}

// offers are all the tools that the options make.
func (s *Server) offers() ([]*offer, error) {
	var list []*offer
	var wrong []error
	seen := map[string]string{}
	add := func(kind string, f *offer, err error) {
		switch {
		case err != nil:
			wrong = append(wrong, err)
			return
		case !toolName().MatchString(f.tool.Name):
			wrong = append(wrong, fmt.Errorf("%s %q is no valid tool name: use at most 64 letters, digits, _ and -", kind, f.tool.Name))
		case seen[f.tool.Name] != "":
			wrong = append(wrong, fmt.Errorf("%s and %s are both called %s: give one another name", seen[f.tool.Name], kind, f.tool.Name))
		}
		seen[f.tool.Name] = kind
		list = append(list, f)
	}
	for _, g := range s.o.Gates {
		f, err := s.gate(g)
		add("a gate", f, err)
	}
	for _, t := range s.o.Tools {
		f, err := s.effect(t)
		add("a tool", f, err)
	}
	add("the server's own tool", s.lint(), nil)
	if s.o.Validate != nil {
		add("the server's own tool", s.validateRequest(), nil)
	}
	if s.o.Runs != nil {
		add("the server's own tool", s.run(), nil)
		for name, c := range s.o.Cascades {
			add("the cascade "+c.File, s.cascade(name, c), nil)
		}
	}
	return list, errors.Join(wrong...)
}

// only picks the offers of these names.
func only(names []string, offers []*offer) ([]*offer, error) {
	if len(names) == 0 {
		return offers, nil
	}
	var known []string
	for _, f := range offers {
		known = append(known, f.tool.Name)
	}
	slices.Sort(known)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is unknown; known are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(offers, func(f *offer) bool { return !slices.Contains(names, f.tool.Name) }), nil
}

// ending bounds the wait for what was cancelled.
const ending = 10 * time.Second

// Serve serves the client that writes to in and reads from out, until in ends
// or ctx does, whose cause is then the error. Out gets nothing but messages.
// At the end of in, what is under way is brought to its end and answered, for as
// long as there is somebody to read it (where out is a pipe or a socket, that is
// seen; where not, it shows at the next message). The end of ctx cancels it at
// once.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	w := newWire(in, out, s.o)
	session, err := s.sdk.Connect(context.WithoutCancel(ctx), w, nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
		return errors.Join(err, w.broken)
	case <-ctx.Done():
	}
	w.Close() // which cancels the calls
	select {
	case <-ended:
	case <-time.After(ending):
		s.o.Log.Warn("calls that do not end were left alone")
	}
	return context.Cause(ctx)
}
