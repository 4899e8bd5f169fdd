// Package lsp is a language server for cascade files, over the Language Server
// Protocol: what [cascades.Parse] finds wrong as one types, with its corrections
// as code actions; completion, hover, definitions, references, renaming, symbols,
// and the worst case of the plan above each phase.
//
// What a file says is read twice. The diagnostics and the plan are those of the
// language itself, of the text as the editor has it, with the unsaved texts of
// the other files that the cascade is made of. All that helps while a file is not
// yet right, completion above all, is read from an outline of keys and texts that
// takes any text, and from the JSON Schema of the language.
//
// A server answers one message after the other, in their order. It reads files
// and writes none: what changes a text is sent to the editor. It starts no
// program, asks no model, and calls no server over the network.
//
// Begin with server.go; check.go is the language's own reading, outline.go and
// meaning.go are the other one.
package lsp

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/seed61713e19/capstan/cascades"
)

// Options are what a server needs of its surroundings.
type Options struct {
	Known   cascades.Known
	Read    cascades.Opener // of files that no editor has open
	List    func(dir string) []string
	Models  []string // that are offered, beside those that the file names
	Plan    func(*cascades.Cascade) cascades.Plan
	Version string
}

// A server serves one editor.
type server struct {
	protocol.UnimplementedServer
	options  Options
	grammar  grammar
	client   protocol.Client
	open     map[string]*document                        // by file
	told     map[string]map[string][]protocol.Diagnostic // by the document that they come from, and the file that they are of
	end      func()
	shutdown bool
}

// A document is a file that the editor has open.
type document struct {
	uri     uri.URI
	file    string // slash-separated
	text    string
	tokens  []token // the outline of the text
	paper   *page   // the text for ranges, once one was asked for
	version int32
	memo    cascades.Memo
	found   cascades.Diagnostics
	good    *cascades.Cascade // the last that was right
	plan    *cascades.Plan    // of it, once it was asked for
	files   []string          // that were read for it
}

// write changes the text.
func (d *document) write(text string) { d.text, d.tokens, d.paper = text, outline(text), nil }

// page is the text for ranges to be found in it.
func (d *document) page() *page {
	if d.paper == nil {
		d.paper = newPage(d.text)
	}
	return d.paper
}

// Serve serves the editor at the other end of a stream until it says exit, the
// stream ends, or ctx does. An error says that the stream broke, or that the
// editor left without a shutdown.
func Serve(ctx context.Context, stream io.ReadWriteCloser, options Options) error {
	g, err := newGrammar()
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := &server{options: options, grammar: g, open: map[string]*document{}, told: map[string]map[string][]protocol.Diagnostic{}, end: end}
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(stream), jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(conn)
	conn.Go(ctx, s.guarded(protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler)))
	select {
	case <-conn.Done():
	case <-ctx.Done():
	}
	if !s.shutdown && ctx.Err() == nil {
		return conn.Err()
	}
	return nil
}

// codec is that of the protocol's unions.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok {
		return raw, nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = append(jsonrpc2.RawMessage(nil), data...)
		return nil
	}
	return protocol.Unmarshal(data, v)
}

// guarded keeps the server alive whatever one message does to it. What a
// notification comes to is nobody's to hear, and an error of one would end the
// connection: editors tell of much that they were not asked for.
func (s *server) guarded(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
		method, answered := strings.Clone(req.Method()), req.IsCall()
		defer func() {
			if r := recover(); r != nil {
				result, err = nil, fmt.Errorf("%s: internal fault: %v", method, r)
			}
			if !answered {
				err = nil
			}
		}()
		return next(ctx, req)
	}
}

// Initialize tells what the server can do.
func (s *server) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	full := protocol.TextDocumentSyncKindIncremental
	return &protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "capstan", Version: protocol.NewOptional(s.options.Version)},
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding:       protocol.PositionEncodingKindUTF16,
			TextDocumentSync:       &protocol.TextDocumentSyncOptions{OpenClose: new(true), Change: &full},
			CompletionProvider:     &protocol.CompletionOptions{TriggerCharacters: []string{".", "|", "{", " ", "@", "\""}},
			HoverProvider:          protocol.Boolean(true),
			DefinitionProvider:     protocol.Boolean(true),
			ReferencesProvider:     protocol.Boolean(true),
			DocumentSymbolProvider: protocol.Boolean(true),
			CodeActionProvider:     &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, protocol.CodeActionKindSourceFixAll}},
			CodeLensProvider:       &protocol.CodeLensOptions{},
			RenameProvider:         &protocol.RenameOptions{PrepareProvider: new(true)},
		},
	}, nil
}

// Shutdown prepares for the end.
func (s *server) Shutdown(context.Context) error {
	s.shutdown = true
	return nil
}

// Exit ends the server.
func (s *server) Exit(context.Context) error {
	s.end()
	return nil
}

// DidOpen takes a text over from the editor.
func (s *server) DidOpen(ctx context.Context, p *protocol.DidOpenTextDocumentParams) error {
	d := &document{uri: p.TextDocument.URI, file: fileOf(p.TextDocument.URI), version: p.TextDocument.Version}
	d.write(strings.Clone(p.TextDocument.Text))
	s.open[d.file] = d
	return s.check(ctx, d.file)
}

// DidChange changes a text.
func (s *server) DidChange(ctx context.Context, p *protocol.DidChangeTextDocumentParams) error {
	d := s.open[fileOf(p.TextDocument.URI)]
	if d == nil {
		return nil
	}
	d.version = p.TextDocument.Version
	text := d.text
	for _, change := range p.ContentChanges {
		switch change := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			text = strings.Clone(change.Text)
		case *protocol.TextDocumentContentChangePartial:
			start, end := offset(text, change.Range.Start), offset(text, change.Range.End)
			text = text[:start] + change.Text + text[max(start, end):]
		}
	}
	d.write(text)
	return s.check(ctx, d.file)
}

// DidClose forgets a text: the file counts again.
func (s *server) DidClose(ctx context.Context, p *protocol.DidCloseTextDocumentParams) error {
	file := fileOf(p.TextDocument.URI)
	delete(s.open, file)
	if err := s.replace(ctx, file, map[string][]protocol.Diagnostic{file: nil}); err != nil {
		return err
	}
	delete(s.told, file)
	return s.check(ctx, file)
}

// fileOf is the file of a document, slash-separated.
func fileOf(u uri.URI) string { return filepath.ToSlash(u.FsPath()) }
