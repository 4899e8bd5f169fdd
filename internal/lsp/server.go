// Package lsp is a language server for cascade files over the Language Server Protocol. It
// publishes the diagnostics of [cascades.ParseFile] with their fixes as code actions. It supports
// completion, hover, definitions, references, renaming and symbols, and shows the worst case of
// each phase. The server reads a text once, as a [syntax.File]. Diagnostics and plans come from
// the [cascades.Cascade] of the tree, with the unsaved texts of the other files of the cascade.
// Completion, hover, definitions and symbols use the JSON Schema of the language and the keys and
// texts of the tree. A half-written file has such a tree too. A server handles one message at a
// time. It reads files and writes none: the editor receives every change of a text. It starts no
// program, calls no model and opens no connection. Begin with server.go. check.go publishes
// diagnostics, tokens.go lists the keys and texts of a tree, and grammar.go has the meaning of
// keys and texts.
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
	"github.com/seed61713e19/capstan/cascades/syntax"
)

// Options has the files, models and names that a server uses.
type Options struct {
	Known   cascades.Known
	Read    cascades.Opener // for files that are not open in the editor
	List    func(dir string) []string
	Models  []string // for completion, in addition to those of the file
	Plan    func(*cascades.Cascade) cascades.Plan
	Version string
}

// A server serves one editor.
type server struct {
	protocol.UnimplementedServer
	options   Options
	grammar   grammar
	client    protocol.Client
	open      map[string]*document                        // by file
	published map[string]map[string][]protocol.Diagnostic // by document and by file
	end       func()
	shutdown  bool
}

// A document is a file that is open in the editor.
type document struct {
	uri     uri.URI
	file    string // slash-separated
	text    string
	tree    *syntax.File // of the text
	tokens  []token      // of the tree
	paper   *page        // of the text; nil before its first use
	version int32
	cache   cascades.Cache
	found   syntax.Diagnostics
	good    *cascades.Cascade // of the last valid text
	plan    *cascades.Plan    // of the last valid text; nil before its first use
	files   []string          // that the last check read
}

// write replaces the text.
func (d *document) write(text string) {
	d.text, d.tree, d.paper = text, syntax.New(d.file, []byte(text)), nil
	d.tokens = tokensOf(d.tree)
}

// page returns the page of the text.
func (d *document) page() *page {
	if d.paper == nil {
		d.paper = newPage(d.text)
	}
	return d.paper
}

// Serve serves the editor at the other end of a stream until the editor sends
// exit, the stream ends, or ctx is done. It returns an error if the stream
// breaks or the editor disconnects without a shutdown.
func Serve(ctx context.Context, stream io.ReadWriteCloser, options Options) error {
	g, err := newGrammar()
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := &server{options: options, grammar: g, open: map[string]*document{}, published: map[string]map[string][]protocol.Diagnostic{}, end: end}
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

// A codec encodes the unions of the protocol.
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

// guarded returns a handler that turns a panic into an error. It drops the
// errors of notifications, because an error would end the connection, and
// editors send notifications that the server does not handle.
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

// Initialize returns the capabilities of the server.
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

// Shutdown prepares the exit.
func (s *server) Shutdown(context.Context) error {
	s.shutdown = true
	return nil
}

// Exit ends the server.
func (s *server) Exit(context.Context) error {
	s.end()
	return nil
}

// DidOpen adds a document and publishes its diagnostics.
func (s *server) DidOpen(ctx context.Context, p *protocol.DidOpenTextDocumentParams) error {
	d := &document{uri: p.TextDocument.URI, file: fileOf(p.TextDocument.URI), version: p.TextDocument.Version}
	d.write(strings.Clone(p.TextDocument.Text))
	s.open[d.file] = d
	return s.check(ctx, d.file)
}

// DidChange changes the text of a document and publishes its diagnostics.
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

// DidClose removes a document and its diagnostics.
func (s *server) DidClose(ctx context.Context, p *protocol.DidCloseTextDocumentParams) error {
	file := fileOf(p.TextDocument.URI)
	delete(s.open, file)
	if err := s.replace(ctx, file, map[string][]protocol.Diagnostic{file: nil}); err != nil {
		return err
	}
	delete(s.published, file)
	return s.check(ctx, file)
}

// fileOf returns the slash-separated file name of a document.
func fileOf(u uri.URI) string { return filepath.ToSlash(u.FsPath()) }
