package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// An editor is a client of the language server that stores the notifications.
type editor struct {
	protocol.UnimplementedClient
	t           testing.TB
	dir         string
	server      protocol.Server
	diagnostics chan *protocol.PublishDiagnosticsParams
	texts       map[string]string
	number      int32
}

func (e *editor) PublishDiagnostics(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
	e.diagnostics <- p
	return nil
}

type ends struct {
	io.Reader
	io.WriteCloser
}

// editing starts capstan lsp in a folder with these files.
func editing(t testing.TB, files map[string]string) *editor {
	e := &editor{t: t, dir: t.TempDir(), diagnostics: make(chan *protocol.PublishDiagnosticsParams, 1000), texts: map[string]string{}}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	toServer, out := io.Pipe()
	in, fromServer := io.Pipe()
	// A secret in the environment must not change the length of a message.
	c := &Command{Stdin: toServer, Stdout: fromServer, Stderr: io.Discard, Getenv: func(string) string { return "" }, Environ: []string{"SOME_API_KEY=instructions"}}
	done := make(chan int, 1)
	go func() { done <- c.Run(context.Background(), []string{"lsp", "--stdio"}) }()
	e.connect(&ends{in, out})
	t.Cleanup(func() {
		e.leave()
		if status := <-done; status != 0 {
			t.Errorf("capstan lsp ended with %d", status)
		}
		fromServer.Close()
	})
	return e
}

// connect initializes the server at the other end of a stream.
func (e *editor) connect(stream io.ReadWriteCloser) {
	e.t.Helper()
	_, _, e.server = protocol.NewClient(context.Background(), e, jsonrpc2.NewStream(stream))
	if _, err := e.server.Initialize(e.t.Context(), &protocol.InitializeParams{}); err != nil {
		e.t.Fatal(err)
	}
}

// leave shuts the server down.
func (e *editor) leave() {
	ctx := context.Background()
	if err := e.server.Shutdown(ctx); err != nil {
		e.t.Error(err)
	}
	e.server.Exit(ctx)
}

func (e *editor) uri(name string) uri.URI { return uri.File(filepath.Join(e.dir, name)) }

// type_ opens or changes a text and returns its diagnostics.
func (e *editor) type_(name, text string) []string {
	e.t.Helper()
	e.number++
	var err error
	if _, open := e.texts[name]; !open {
		err = e.server.DidOpen(e.t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: e.uri(name), Version: e.number, Text: text}})
	} else {
		err = e.server.DidChange(e.t.Context(), &protocol.DidChangeTextDocumentParams{
			TextDocument:   protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.uri(name)}, Version: e.number},
			ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: text}},
		})
	}
	if err != nil {
		e.t.Fatal(err)
	}
	e.texts[name] = text
	return e.wrong(name)
}

// wrong returns the diagnostics of the next notification about a file.
func (e *editor) wrong(name string) []string {
	e.t.Helper()
	for {
		p := <-e.diagnostics
		if p.URI != e.uri(name) {
			continue
		}
		list := []string{}
		for _, d := range p.Diagnostics {
			list = append(list, fmt.Sprintf("%d:%d-%d %s", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Character, d.Message))
		}
		return list
	}
}

// at returns the position of the mark in a text, and opens the text without the
// mark.
func (e *editor) at(name, marked string) protocol.TextDocumentPositionParams {
	e.t.Helper()
	before, after, ok := strings.Cut(marked, "⌖")
	if !ok {
		e.t.Fatalf("no mark in %s", marked)
	}
	e.type_(name, before+after)
	return e.place(name, before)
}

func (e *editor) place(name, before string) protocol.TextDocumentPositionParams {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(name)},
		Position:     protocol.Position{Line: uint32(strings.Count(before, "\n")), Character: uint32(len([]rune(line)))},
	}
}

func (e *editor) completions(name, marked string) []string {
	e.t.Helper()
	result, err := e.server.Completion(e.t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: e.at(name, marked)})
	if err != nil {
		e.t.Fatal(err)
	}
	var labels []string
	items, _ := result.(protocol.CompletionItemSlice)
	for _, item := range items {
		labels = append(labels, item.Label)
	}
	return labels
}

const flow = `cascade_id: flow
inputs_schema:
  topic: What to write about
validators:
  tone: {judge: "Is it friendly?"}
tools:
  send: {exec: [send]}
phases:
  - name: draft
    instructions: "Write on {{ input.topic }}."
    output_schema: {type: object, properties: {title: {type: string}, body: {type: string}}}
    handoffs: [polish]
  - name: polish
    instructions: |
      Polish {{ outputs.draft.title }}.
      @notafile
    when: outputs.draft.body != ""
    rules: {max_attempts: 3, on_exhausted: draft}
    context: {from: [draft]}
    wards:
      post:
        - {validator: tone, mode: retry}
`

func TestLanguageServerDiagnostics(t *testing.T) {
	e := editing(t, map[string]string{"prompt.md": "{{ input.topic }}", "inner.yaml": "cascade_id: inner\nphases: [{name: a, instructions: x}]\n"})
	if got := e.type_("flow.yaml", flow); len(got) != 0 {
		t.Errorf("a good file: %q", got)
	}
	if got := e.type_("flow.yaml", strings.Replace(flow, "instructions: |", "instrutions: |", 1)); !slices.Contains(got, `13:4-15 phase polish has no key "instrutions", did you mean "instructions"?`) {
		t.Errorf("%q", got)
	}
	// Characters that need two UTF-16 code units, the unit of the protocol.
	if got := e.type_("flow.yaml", strings.Replace(flow, "Write on {{ input", "😀é {{ inptu", 1)); len(got) != 1 || !strings.HasPrefix(got[0], "9:26-31 ") {
		t.Errorf("%q", got)
	}
	if got := e.type_("flow.yaml", "cascade_id: \"open\nphases: x"); len(got) != 1 || !strings.HasPrefix(got[0], "0:12-") {
		t.Errorf("%q", got)
	}
	// The unsaved text of another file counts, and its diagnostics are
	// published.
	e.type_("prompt.md", "{{ input.topic }}")
	if got := e.type_("flow.yaml", strings.Replace(flow, `"Write on {{ input.topic }}."`, `"@prompt.md"`, 1)); len(got) != 0 {
		t.Errorf("%q", got)
	}
	e.number++
	if err := e.server.DidChange(t.Context(), &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.uri("prompt.md")}, Version: e.number},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangePartial{
			Range: protocol.Range{Start: protocol.Position{Character: 3}, End: protocol.Position{Character: 8}}, Text: "inptu"}},
	}); err != nil {
		t.Fatal(err)
	}
	for {
		got := e.wrong("prompt.md")
		if len(got) == 1 && strings.HasPrefix(got[0], "0:3-8 ") {
			break
		}
	}
	if got := e.type_("flow.scripted.yaml", "- {phase: a, reply: x}"); len(got) != 0 {
		t.Errorf("a script: %q", got)
	}
}

func TestLanguageServerLooks(t *testing.T) {
	e := editing(t, map[string]string{"prompt.md": "Of {{ outputs.draft.title }} and {{ input.topic }}"})
	e.type_("flow.yaml", flow)
	hover := func(marked string) string {
		h, err := e.server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.at("flow.yaml", marked)})
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return ""
		}
		return h.Contents.(*protocol.MarkupContent).Value
	}
	for marked, want := range map[string]string{
		strings.Replace(flow, "max_attempts", "max_att⌖empts", 1):                               "attempt",
		strings.Replace(flow, "validator: tone", "validator: to⌖ne", 1):                         "of this file",
		strings.Replace(flow, "{validator: tone", "{validator: max_le⌖ngth, with: {max: 3}", 1): "`max` integer, required",
		strings.Replace(flow, "{validator: tone", "{validator: max_length, with: {m⌖ax: 3}", 1): "characters",
		strings.Replace(flow, "handoffs: [polish]", "handoffs: [pol⌖ish]", 1):                   "at worst 100 visits",
		strings.Replace(flow, "{{ outputs.draft.title", "{{ outputs.dr⌖aft.title", 1):           "phase **draft**",
		strings.Replace(flow, "handoffs: [polish]", "handoffs: [pol⌖ish]\n    tackle: [", 1):    "at worst 100 visits", // from the last valid text
	} {
		if got := hover(marked); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", marked, got, want)
		}
	}
	at := e.at("flow.yaml", strings.Replace(flow, "from: [draft]", "from: [dr⌖aft]", 1))
	def, err := e.server.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: at})
	if locations, _ := def.(protocol.LocationSlice); err != nil || len(locations) != 1 || locations[0].Range.Start != (protocol.Position{Line: 8, Character: 10}) {
		t.Errorf("definition: %v, %v", def, err)
	}
	refs, err := e.server.References(t.Context(), &protocol.ReferenceParams{TextDocumentPositionParams: at, Context: protocol.ReferenceContext{IncludeDeclaration: true}})
	if err != nil || len(refs) != 5 {
		t.Errorf("references: %v, %v", refs, err)
	}
	symbols, err := e.server.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: at.TextDocument})
	if list, _ := symbols.(protocol.DocumentSymbolSlice); err != nil || len(list) != 5 || list[0].Name != "topic" || list[4].Name != "polish" {
		t.Errorf("symbols: %v, %v", symbols, err)
	}
	lenses, err := e.server.CodeLens(t.Context(), &protocol.CodeLensParams{TextDocument: at.TextDocument})
	if err != nil || len(lenses) != 3 || !strings.Contains(lenses[0].Command.Title, "at worst") || lenses[2].Range.Start.Line != 12 {
		t.Errorf("lenses: %v, %v", lenses, err)
	}
	// The hover shows tokens and money if the file has a limit and a model with
	// a price.
	if strings.Contains(lenses[0].Command.Title, "$") {
		t.Errorf("no model, and a price: %s", lenses[0].Command.Title)
	}
	e.type_("priced.yaml", "cascade_id: priced\nmodel: {name: gpt-5-mini, max_output_tokens: 1000}\nphases:\n  - {name: a, instructions: Write.}\n")
	priced, err := e.server.CodeLens(t.Context(), &protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("priced.yaml")}})
	if err != nil || len(priced) != 2 {
		t.Fatal(priced, err)
	}
	for _, one := range priced {
		if !strings.Contains(one.Command.Title, "answered: ~1000; cost: ~$0.0020") {
			t.Errorf("lens: %s", one.Command.Title)
		}
	}
	// A rename changes handoffs, rules, templates, expressions and the template
	// file. The result is a valid cascade.
	e.type_("flow.yaml", strings.Replace(flow, `      @notafile`, "", 1)+"  - {name: last, instructions: \"@prompt.md\"}\n")
	edit, err := e.server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: at, NewName: "outline"})
	if err != nil {
		t.Fatal(err)
	}
	renamed := apply(e.texts["flow.yaml"], edit.Changes[e.uri("flow.yaml")])
	if strings.Contains(renamed, "draft") || strings.Count(renamed, "outline") != 5 {
		t.Errorf("renamed:\n%s", renamed)
	}
	if got := apply("Of {{ outputs.draft.title }} and {{ input.topic }}", edit.Changes[e.uri("prompt.md")]); got != "Of {{ outputs.outline.title }} and {{ input.topic }}" {
		t.Errorf("renamed beside: %s", got)
	}
	for _, name := range []string{"polish", "a b", ""} {
		if _, err := e.server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: at, NewName: name}); err == nil {
			t.Errorf("renamed to %q", name)
		}
	}
	file := e.at("flow.yaml", strings.Replace(flow, `"Write on {{ input.topic }}."`, `"@prom⌖pt.md"`, 1))
	def, err = e.server.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: file})
	if locations, _ := def.(protocol.LocationSlice); err != nil || len(locations) != 1 || locations[0].URI != e.uri("prompt.md") {
		t.Errorf("definition of a file: %v, %v", def, err)
	}
}

// apply applies edits, beginning with the last.
func apply(text string, edits []protocol.TextEdit) string {
	slices.SortFunc(edits, func(a, b protocol.TextEdit) int {
		return int(b.Range.Start.Line)*1000 + int(b.Range.Start.Character) - int(a.Range.Start.Line)*1000 - int(a.Range.Start.Character)
	})
	lines := strings.Split(text, "\n")
	for _, e := range edits {
		line := lines[e.Range.Start.Line]
		lines[e.Range.Start.Line] = line[:e.Range.Start.Character] + e.NewText + line[e.Range.End.Character:]
	}
	return strings.Join(lines, "\n")
}

func TestLanguageServerActions(t *testing.T) {
	e := editing(t, nil)
	broken := strings.NewReplacer("instructions: |", "instrutions: |", "mode: retry", "mode: rety", "outputs.draft.body", "outputs.draft.bdy").Replace(flow)
	e.type_("flow.yaml", broken)
	all := protocol.Range{End: protocol.Position{Line: 1000}}
	actions, err := e.server.CodeAction(t.Context(), &protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("flow.yaml")}, Range: all})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, one := range actions {
		a := one.(*protocol.CodeAction)
		titles = append(titles, a.Title)
		if *a.Kind == protocol.CodeActionKindSourceFixAll {
			if got := e.type_("flow.yaml", apply(broken, a.Edit.Changes[e.uri("flow.yaml")])); len(got) != 0 {
				t.Errorf("after all that is sure: %q", got)
			}
		}
	}
	if strings.Join(titles, "; ") != `Replace with "instructions"; Replace with "retry"; Put right what can only be meant in one way` {
		t.Errorf("%q", titles)
	}
}

// TestLanguageServerTyping checks that no incomplete text crashes the server.
func TestLanguageServerTyping(t *testing.T) {
	e := editing(t, nil)
	for i := 0; i <= len(flow); i += 7 {
		e.type_("flow.yaml", flow[:i])
		e.completions("flow.yaml", flow[:i]+"⌖"+flow[min(len(flow), i+20):])
	}
	for _, text := range []string{"{{{{[[[", "- - - - :\n  : :\n- [", "\"\n'\n|\n", ": ⌖ {a: [", "\t\t- a:\n\t b", strings.Repeat("[", 10_000), "a: &b *c {", "a: |\n", "\ufeffcascade_id: x"} {
		e.type_("flow.yaml", text)
		e.completions("flow.yaml", strings.ReplaceAll(text, "⌖", "")+"⌖")
	}
}

// TestLanguageServerUnasked checks that the server survives notifications that
// it does not handle.
func TestLanguageServerUnasked(t *testing.T) {
	e := editing(t, nil)
	for _, err := range []error{
		e.server.DidChangeConfiguration(t.Context(), &protocol.DidChangeConfigurationParams{}),
		e.server.DidChangeWatchedFiles(t.Context(), &protocol.DidChangeWatchedFilesParams{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.server.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("none.yaml")}}); err != nil {
		t.Error(err)
	}
}
