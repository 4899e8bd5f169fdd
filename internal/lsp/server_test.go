package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/lsp"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// An editor is a client with one open file.
type editor struct {
	protocol.UnimplementedClient
	t           *testing.T
	server      protocol.Server
	diagnostics chan []protocol.Diagnostic
}

const file = uri.URI("file:///work/flow.yaml")

func (e *editor) PublishDiagnostics(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
	e.diagnostics <- p.Diagnostics
	return nil
}

// newEditor starts a server and opens a text, in which ⌖ marks a place.
func newEditor(t *testing.T, marked string) (e *editor, found []protocol.Diagnostic, at protocol.TextDocumentPositionParams) {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- lsp.Serve(context.Background(), server, lsp.Options{
			Known: cascades.Known{Validators: builtins.Default()},
			Read:  func(name string) ([]byte, error) { return nil, errors.New("no file " + name) },
			List:  func(string) []string { return []string{"note.md"} },
			Plan:  func(c *cascades.Cascade) cascades.Plan { return c.Plan("", nil) },
		})
	}()
	e = &editor{t: t, diagnostics: make(chan []protocol.Diagnostic, 10)}
	_, _, e.server = protocol.NewClient(context.Background(), e, jsonrpc2.NewStream(client))
	e.must(e.server.Initialize(t.Context(), &protocol.InitializeParams{}))
	t.Cleanup(func() {
		e.must(nil, e.server.Shutdown(context.Background()))
		_ = e.server.Exit(context.Background()) // the server closes the connection
		e.must(nil, <-done)
	})
	before, after, _ := strings.Cut(marked, "⌖")
	e.must(nil, e.server.DidOpen(t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: file, Text: before + after}}))
	at.TextDocument.URI = file
	at.Position = protocol.Position{Line: uint32(strings.Count(before, "\n")), Character: uint32(len(before) - strings.LastIndexByte(before, '\n') - 1)}
	return e, <-e.diagnostics, at
}

func (e *editor) must(_ any, err error) {
	e.t.Helper()
	if err != nil {
		e.t.Error(err)
	}
}

// top is the beginning of a file that each test continues.
const top = `cascade_id: flow
inputs_schema: {topic: What to write about}
validators:
  tone: {judge: "Is it friendly?"}
phases:
- name: draft
  instructions: "Write on {{ input.topic }}."
  output_schema: {type: object, properties: {title: {type: string}}}
- name: polish
  instructions: Polish {{ outputs.draft.title }}.
  wards:
    post: [{validator: tone}]
`

// TestCompletionHalfWritten asks for completions in files that are not YAML.
func TestCompletionHalfWritten(t *testing.T) {
	for name, c := range map[string]struct{ typed, offered, absent string }{
		"key of a phase":            {"  hand⌖", "handoffs", "instructions"},
		"key after a broken line":   {"  rules: {max_turns: 2\n  hand⌖", "handoffs", "rules"},
		"key before a broken line":  {"  hand⌖\n  rules: {max_turns: 2\n", "handoffs", "rules"},
		"key within rules":          {"  rules:\n    max_turns: 2\n    max_⌖", "max_attempts", "max_turns"},
		"key within brackets":       {"  rules: {max_turns: 2, max_⌖", "max_attempts", "max_turns"},
		"key of the file":           {"bud⌖", "budget", "handoffs"},
		"new phase":                 {"- name: last\n  ins⌖", "instructions", "name"},
		"phase in a list":           {"  handoffs: [dr⌖", "draft", "tone"},
		"phase in a block":          {"  handoffs:\n  - ⌖\n  when: \"", "draft", "tone"},
		"validator without a quote": {"- name: last\n  wards: {post: [{validator: \"to⌖", "tone", "draft"},
		"input of a template":       {"- name: last\n  instructions: \"Write {{ input.⌖", "topic", "draft"},
		"output of a template":      {"- name: last\n  instructions: |\n    Write {{ outputs.⌖\n  rules: [", "draft", "topic"},
		"field of an output":        {"- name: last\n  instructions: 'Write {{ outputs.draft.⌖", "title", "topic"},
		"word of a key":             {"- name: last\n  wards: {post: [{validator: tone, mode: ⌖", "retry", "tone"},
	} {
		e, _, at := newEditor(t, top+c.typed)
		result, err := e.server.Completion(t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: at})
		if err != nil {
			t.Fatal(err)
		}
		items, _ := result.(protocol.CompletionItemSlice)
		var labels []string
		for _, item := range items {
			labels = append(labels, item.Label)
		}
		if !slices.Contains(labels, c.offered) || slices.Contains(labels, c.absent) {
			t.Errorf("%s: got %q, want %s without %s", name, labels, c.offered, c.absent)
		}
	}
}

// broken ends a file with a bracket that is not closed.
const broken = "  handoffs: [draft\n"

func TestHoverHalfWritten(t *testing.T) {
	for at, want := range map[string]string{
		"validator: tone": "validator", "{{ outputs.draft": "phase **draft**", "{{ input.topic": "input **topic**",
		"handoffs: [draft": "phase **draft**", "  wards": "**wards**",
	} {
		e, _, place := newEditor(t, strings.Replace(top+broken, at, at+"⌖", 1))
		h, err := e.server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: place})
		if err != nil {
			t.Fatal(err)
		}
		if h == nil || !strings.Contains(h.Contents.(*protocol.MarkupContent).Value, want) {
			t.Errorf("%s: got %+v, want %s", at, h, want)
		}
	}
}

func TestDefinitionHalfWritten(t *testing.T) {
	for at, want := range map[string]string{"handoffs: [draft": "5:8-13", "{{ outputs.draft": "5:8-13", "validator: tone": "3:2-6", "{{ input.topic": "1:16-21"} {
		e, _, place := newEditor(t, strings.Replace(top+broken, at, at+"⌖", 1))
		result, err := e.server.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: place})
		if err != nil {
			t.Fatal(err)
		}
		list, _ := result.(protocol.LocationSlice)
		if len(list) != 1 || text(list[0].Range) != want {
			t.Errorf("%s: got %+v, want %s", at, list, want)
		}
	}
}

// text returns a range within a line.
func text(r protocol.Range) string {
	return fmt.Sprintf("%d:%d-%d", r.Start.Line, r.Start.Character, r.End.Character)
}

func TestSymbolsHalfWritten(t *testing.T) {
	e, _, _ := newEditor(t, top+broken)
	result, err := e.server.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: file}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	list, _ := result.(protocol.DocumentSymbolSlice)
	for _, s := range list {
		got = append(got, *s.Detail+" "+s.Name+" "+text(s.SelectionRange))
	}
	if want := "input topic 1:16-21; validator tone 3:2-6; phase draft 5:8-13; phase polish 8:8-14"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
}

func TestDiagnosticsHalfWritten(t *testing.T) {
	for typed, want := range map[string]string{
		"":                           "",
		broken:                       "did not find expected ',' or ']'",
		"  instr":                    "12:2-7 syntax",
		"  handoffs: [drft]":         "12:13-17 unknown-phase",
		"  rules: {max_turns: many}": "12:21-25 wrong-type",
	} {
		_, found, _ := newEditor(t, top+typed)
		got := ""
		for _, d := range found {
			got += fmt.Sprintf("%s %s %s;", text(d.Range), d.Code, d.Message)
		}
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}

func TestRenameHalfWritten(t *testing.T) {
	e, _, at := newEditor(t, strings.Replace(top+broken, "name: draft", "name: dr⌖aft", 1))
	edit, err := e.server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: at, NewName: "outline"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range edit.Changes[file] {
		got = append(got, text(one.Range)+" "+one.NewText)
	}
	slices.Sort(got)
	if want := "12:13-18 outline; 5:8-13 outline; 9:34-39 outline"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
}
