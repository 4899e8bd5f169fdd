// Package mcpserver offers gates, tools and cascades to MCP clients over two streams, each as a
// tool, and the tools run, lint and validate_request.
//
// [Options] select the offers. An offer (offer.go) has a name, the schema of its arguments, and
// a function. A call is one line of input. The server checks it against the schema, and passes
// it to a gate or tool (gate.go), to a run (run.go, and ask.go for questions), or to a check
// (look.go). The result is one line of output without secrets (clean.go).
//
// Failed verdicts are results. Errors mean that a call was wrong or something broke. Schemas do
// not contain the parameters that the operator has set. The protocol is the SDK's. The
// connection is not (wire.go): the SDK's connection ends at the first invalid line, and at the
// end of the input before open calls are answered.
//
// Files of calls must be below Root (root.go), and start programs only if Programs is set.
//
// Begin with [New] and offer.go.
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

// Default limits of [Options].
const (
	DefaultMaxMessage = 64 << 20 // bytes
	DefaultLimit      = 16
)

// Options configure a [Server].
type Options struct {
	Version  string
	Gates    []Gate
	Tools    []Tool
	Cascades map[string]*cascades.Cascade // by the names of their tools
	Only     []string                     // the names of the offers; empty means all

	Judge  *runner.Runner // asks the model of judges
	Runs   Runs           // executes the runs; nil offers no runs
	Stored bool           // runs are stored and can be resumed
	Limit  int            // maximum of concurrent runs, further ones wait; 0 means DefaultLimit

	Root     string         // the folder of files that calls name; "" means the working directory
	Programs bool           // files of calls may start programs
	Known    cascades.Known // what these files may name

	// Validate answers a request of the validation request protocol, which is JSON. If Validate
	// is nil, the server does not offer this tool.
	Validate func(ctx context.Context, request []byte) (response any, err error)

	Clean      func(string) string // removes secrets from a text; may be nil
	Log        *slog.Logger        // may be nil
	MaxMessage int                 // maximum size of a message, in bytes; 0 means DefaultMaxMessage
}

// A Server serves one client at a time. Make one with [New].
type Server struct {
	o     Options
	sdk   *sdk.Server
	seats chan struct{} // one for each run

	mu    sync.Mutex
	asked map[string]open // runs that wait for answers of the client, by name
}

// instructions describe the server to the client's model.
const instructions = "Each gate judges a text and gives a verdict: valid false is an answer, with the reason to mend the text by, while an error means that there is no verdict. " +
	"Cascades run to their end and give the text that has passed all of their gates, or say which gate refused it and why."

// New returns a server. Its errors are mistakes of the operator: duplicate or invalid names,
// and wrong parameters of gates.
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

// offers returns all tools of the options.
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

// only selects offers by their names.
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

// ending limits the wait for cancelled calls.
const ending = 10 * time.Second

// Serve serves the client that writes to in and reads from out. It returns when in or ctx ends.
// It writes only messages to out. At the end of in, it finishes and answers the open calls while
// somebody reads out. The end of ctx cancels them; Serve then returns the cause.
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
	w.Close() // cancels the calls
	select {
	case <-ended:
	case <-time.After(ending):
		s.o.Log.Warn("calls that do not end were left alone")
	}
	return context.Cause(ctx)
}
