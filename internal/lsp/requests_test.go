package lsp_test

import (
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// whole is a valid file with a list and a group.
const whole = top + `- name: each
  instructions: "Check {{ line }}."
  each: {in: [a, b], as: line}
- name: both
  together:
  - name: left
    instructions: Left.
    output_schema: {type: object, properties: {score: {type: number}}}
    wards: {post: [{expr: "output.score > 1", mode: retry}]}
  - {name: right, instructions: Right.}
`

// labels returns the completions at the mark of a text.
func labels(t *testing.T, marked string) (list []string) {
	t.Helper()
	e, _, at := newEditor(t, marked)
	result, err := e.server.Completion(t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: at})
	if err != nil {
		t.Fatal(err)
	}
	items, _ := result.(protocol.CompletionItemSlice)
	for _, item := range items {
		list = append(list, item.Label)
	}
	return list
}

// TestCompletionNames checks the names that only some places have.
func TestCompletionNames(t *testing.T) {
	for name, c := range map[string]struct{ at, marked, offered, absent string }{
		"variable of each":        {"{{ line }}", "{{ ⌖line }}", "line", "title"},
		"no variable of another":  {"Polish {{ ", "Polish {{ ⌖", "input", "line"},
		"field of a branch":       {"output.score > 1", "output.⌖score > 1", "score", "title"},
		"file of a sub-cascade":   {"  handoffs: [x]", "  sub_cascades: [{ref: ⌖}]", "note.md", "draft"},
		"model of another phase":  {"  handoffs: [x]", "  model: house/small\n- name: z\n  model: ⌖", "house/small", "draft"},
		"template file of a text": {"\"Check {{ line }}.\"", "\"@⌖\"", "note.md", "draft"},
	} {
		t.Run(name, func(t *testing.T) {
			text := whole + "  handoffs: [x]\n"
			if !strings.Contains(text, c.at) {
				t.Fatal("the file has no such place")
			}
			if got := labels(t, strings.Replace(text, c.at, c.marked, 1)); !slices.Contains(got, c.offered) || slices.Contains(got, c.absent) {
				t.Errorf("got %q, want %s without %s", got, c.offered, c.absent)
			}
		})
	}
}

// TestHover checks what names and places mean in a valid file.
func TestHover(t *testing.T) {
	for at, want := range map[string]string{
		"{{ input.topic": "input **topic**: What to write about", "max_length": "validator **max_length**", "": "",
		"mode: ret": "The result of a failure",
	} {
		text := strings.Replace(whole, "{validator: tone}", "{validator: max_length, with: {max: 9}}", 1)
		e, _, place := newEditor(t, strings.Replace(text, at, at+"⌖", 1))
		if at == "" {
			place.Position = protocol.Position{Line: 1000}
		}
		h, err := e.server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: place})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if h != nil {
			got = h.Contents.(*protocol.MarkupContent).Value
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
	}
}

// TestRenameOnlyOwnNames checks that only a name that the file defines can be renamed.
func TestRenameOnlyOwnNames(t *testing.T) {
	for at, want := range map[string]string{"name: left": "17:10-14", "validator: tone": "11:23-27", "validator: max_le": "", "Left": ""} {
		used := strings.Replace(whole, "{validator: tone}", "{validator: tone}, {validator: max_length, with: {max: 9}}", 1)
		e, _, place := newEditor(t, strings.Replace(used, at, at+"⌖", 1))
		result, err := e.server.PrepareRename(t.Context(), &protocol.PrepareRenameParams{TextDocumentPositionParams: place})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r, ok := result.(*protocol.Range); ok && r != nil {
			got = text(*r)
		}
		edit, err := e.server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: place, NewName: "other"})
		if got != want || (want == "") != (err != nil) {
			t.Errorf("%s: got %q and %+v, %v, want %q", at, got, edit, err, want)
		}
	}
}

// TestReferences checks the uses of a name, without its definition.
func TestReferences(t *testing.T) {
	e, _, at := newEditor(t, strings.Replace(whole, "name: draft", "name: dr⌖aft", 1))
	for _, declaration := range []bool{false, true} {
		list, err := e.server.References(t.Context(), &protocol.ReferenceParams{TextDocumentPositionParams: at, Context: protocol.ReferenceContext{IncludeDeclaration: declaration}})
		want := 1
		if declaration {
			want++
		}
		if err != nil || len(list) != want {
			t.Errorf("got %+v, %v, want %d", list, err, want)
		}
	}
}

// TestCodeActionsAsked checks that an editor gets the actions of its range and of the kinds that it asks for.
func TestCodeActionsAsked(t *testing.T) {
	e, found, _ := newEditor(t, strings.Replace(strings.Replace(whole, "  instructions: Polish", "  instrutions: Polish", 1), "mode: retry", "mode: rety", 1))
	if len(found) < 2 {
		t.Fatal(found)
	}
	for name, c := range map[string]struct {
		from, to uint32
		only     []protocol.CodeActionKind
		want     string
	}{
		"all":       {0, 100, nil, `Replace with "instructions"; Replace with "retry"; Put right what can only be meant in one way`},
		"one line":  {9, 9, []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}, `Replace with "instructions"`},
		"the file":  {0, 0, []protocol.CodeActionKind{protocol.CodeActionKindSource}, "Put right what can only be meant in one way"},
		"refactors": {0, 100, []protocol.CodeActionKind{protocol.CodeActionKindRefactor}, ""},
	} {
		actions, err := e.server.CodeAction(t.Context(), &protocol.CodeActionParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: file}, Context: protocol.CodeActionContext{Only: c.only},
			Range: protocol.Range{Start: protocol.Position{Line: c.from}, End: protocol.Position{Line: c.to}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var titles []string
		for _, one := range actions {
			titles = append(titles, one.(*protocol.CodeAction).Title)
		}
		if got := strings.Join(titles, "; "); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestChangeAndClose checks that diagnostics follow the text, and end with it.
func TestChangeAndClose(t *testing.T) {
	e, found, _ := newEditor(t, whole)
	if len(found) != 0 {
		t.Fatal(found)
	}
	at := strings.Count(strings.SplitAfter(whole, "name: left")[0], "\n")
	for _, one := range []struct {
		text string
		want int
	}{{"draft", 1}, {"left", 0}, {"right", 1}} {
		e.must(nil, e.server.DidChange(t.Context(), &protocol.DidChangeTextDocumentParams{
			TextDocument: protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: file}, Version: 2},
			ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangePartial{
				Range: protocol.Range{Start: protocol.Position{Line: uint32(at), Character: 10}, End: protocol.Position{Line: uint32(at), Character: 1000}},
				Text:  one.text,
			}},
		}))
		if found := <-e.diagnostics; len(found) != one.want {
			t.Errorf("%q: %+v", one.text, found)
		}
	}
	e.must(nil, e.server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: file}}))
	if found := <-e.diagnostics; len(found) != 0 {
		t.Errorf("a closed file: %+v", found)
	}
	symbols, err := e.server.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: file}})
	if list, _ := symbols.(protocol.DocumentSymbolSlice); err != nil || len(list)+len(e.diagnostics) != 0 {
		t.Errorf("a closed file: %+v, %v, and %d more reports", list, err, len(e.diagnostics))
	}
}
