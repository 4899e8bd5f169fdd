package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// Completion returns the words that can be written at a position.
func (s *server) Completion(_ context.Context, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	d := s.open[fileOf(p.TextDocument.URI)]
	if d == nil {
		return nil, nil
	}
	at := d.page().column(p.Position)
	offers, from := s.complete(d, int(p.Position.Line), at)
	list := protocol.CompletionItemSlice{}
	for _, o := range offers {
		item := protocol.CompletionItem{Label: o.label, Kind: o.kind, TextEdit: &protocol.TextEdit{Range: d.page().rangeOf(int(p.Position.Line), from, at), NewText: o.insert}}
		if o.detail != "" {
			item.Detail = protocol.NewOptional(o.detail)
		}
		if o.about != "" {
			item.Documentation = &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: o.about}
		}
		list = append(list, item)
	}
	return list, nil
}

// A place is a position in a document, with its token and its name.
type place struct {
	*document
	tokens []token
	spans  []span
	token  token
	on     bool // token is set
	span   span
	named  bool // span is set
	line   int
	column int
}

func (s *server) place(p protocol.TextDocumentPositionParams) (place, bool) {
	d := s.open[fileOf(p.TextDocument.URI)]
	if d == nil {
		return place{}, false
	}
	at := place{document: d, tokens: d.tokens, line: int(p.Position.Line), column: d.page().column(p.Position)}
	at.spans = spans(at.tokens)
	i := slices.IndexFunc(at.tokens, func(t token) bool { return t.line == at.line && t.start <= at.column && at.column <= t.end })
	if i >= 0 {
		at.token, at.on = at.tokens[i], true
	}
	at.span, at.named = under(at.spans, at.line, at.column)
	return at, true
}

// Hover returns the meaning of a key, the parameters of a validator, or the
// worst case of a phase.
func (s *server) Hover(_ context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	at, ok := s.place(p.TextDocumentPositionParams)
	if !ok || !at.on {
		return nil, nil
	}
	start, end, about := at.token.start, at.token.end, ""
	switch {
	case at.named:
		start, end, about = at.span.start, at.span.end, s.aboutName(at.document, at.span.kind, at.span.name)
	case at.token.key:
		about = cmp.Or(s.parametersIn(at.tokens, at.token.path)[at.token.text], s.grammar.about(append(slices.Clip(at.token.path), at.token.text)))
		about = strings.TrimSpace("**" + at.token.text + "**: " + about)
	case notationOf(at.token) == plainText:
		about = s.grammar.about(at.token.path)
	}
	if about == "" {
		return nil, nil
	}
	r := at.page().rangeOf(at.line, start, end)
	return &protocol.Hover{Contents: &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: about}, Range: &r}, nil
}

// aboutName returns the description of a name as Markdown.
func (s *server) aboutName(d *document, k kind, name string) string {
	switch k {
	case phases:
		return fmt.Sprintf("phase **%s**\n\n%s", name, s.worst(d, name))
	case inputs:
		about := "input **" + name + "**"
		if d.good != nil {
			for _, in := range d.good.Inputs {
				if in.Name == name {
					return about + ": " + in.Description
				}
			}
		}
		return about
	case validations, toolNames:
		if d.good != nil && d.good.Validators[name] != nil {
			return fmt.Sprintf("validator **%s** of this file: %s", name, d.good.Validators[name].Description)
		}
		if v, err := s.options.Known.Validators.Find(name); err == nil {
			return fmt.Sprintf("validator **%s**: %s%s", name, v.Description, parameterList(v.Params()))
		}
		if d.good != nil && d.good.Tools[name] != nil {
			t := d.good.Tools[name]
			return fmt.Sprintf("tool **%s** of this file (%s): %s", name, t.Effect, t.Description)
		}
		for _, t := range append(s.options.Known.Tools.List(), cascades.EngineTools()...) {
			if t.Name == name && !t.Remote() {
				return fmt.Sprintf("tool **%s** (%s): %s%s", name, cmp.Or(string(t.Effect), "writes"), t.Description, parameterList(t.Params()))
			}
		}
	}
	if slices.Contains(definedNames(spans(d.tokens), k), name) { // the file has not been valid yet
		return fmt.Sprintf("%s **%s** of this file", k, name)
	}
	return ""
}

// parameterList returns a list of parameters, required ones first.
func parameterList(params map[string]any) string {
	properties, _ := params["properties"].(map[string]any)
	required, _ := params["required"].([]any)
	var b strings.Builder
	names := slices.Sorted(maps.Keys(properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(slices.Index(required, any(b)), slices.Index(required, any(a)))
	})
	for _, name := range names {
		property, _ := properties[name].(map[string]any)
		words, _ := property["description"].(string)
		typed, _ := json.Marshal(property["type"])
		fmt.Fprintf(&b, "\n- `%s` %s", name, strings.Trim(string(typed), `"`))
		if slices.Contains(required, any(name)) {
			b.WriteString(", required")
		}
		if words != "" {
			b.WriteString(": " + words)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

// Definition returns the definition of a name, or the file that is named.
func (s *server) Definition(_ context.Context, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	at, ok := s.place(p.TextDocumentPositionParams)
	if !ok || !at.on {
		return nil, nil
	}
	list := protocol.LocationSlice{}
	if at.named {
		for _, one := range same(at.spans, at.span) {
			if one.defines {
				list = append(list, at.location(one))
			}
		}
	}
	if file := at.fileNamed(); file != "" && len(list) == 0 {
		if _, err := s.read(file); err == nil {
			list = append(list, protocol.Location{URI: uri.File(filepath.FromSlash(file))})
		}
	}
	return list, nil
}

// fileNamed returns the file that the text at a place can name, or "".
func (at place) fileNamed() string {
	name := at.token.text
	if rest, ok := strings.CutPrefix(name, "@"); ok && notationOf(at.token) == templateText {
		name = rest
	} else if !strings.Contains(name, ".") || at.token.key || notationOf(at.token) != plainText {
		return ""
	}
	if path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(at.file), name)
}

func (at place) location(one span) protocol.Location {
	return protocol.Location{URI: at.uri, Range: at.page().rangeOf(one.line, one.start, one.end)}
}

// References returns every use of a name.
func (s *server) References(_ context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	at, ok := s.place(p.TextDocumentPositionParams)
	list := []protocol.Location{}
	if !ok || !at.named {
		return list, nil
	}
	for _, one := range same(at.spans, at.span) {
		if p.Context.IncludeDeclaration || !one.defines {
			list = append(list, at.location(one))
		}
	}
	return list, nil
}

// PrepareRename returns the range of a name that the file defines.
func (s *server) PrepareRename(_ context.Context, p *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error) {
	at, ok := s.place(p.TextDocumentPositionParams)
	if !ok || !at.named || !slices.Contains(definedNames(at.spans, at.span.kind), at.span.name) {
		return nil, nil
	}
	r := at.page().rangeOf(at.line, at.span.start, at.span.end)
	return &r, nil
}

var newName = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Rename renames a phase, a validator, a tool or an input of the file in every
// place, including the template files of the cascade.
func (s *server) Rename(_ context.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	at, ok := s.place(p.TextDocumentPositionParams)
	switch {
	case !ok || !at.named || !slices.Contains(definedNames(at.spans, at.span.kind), at.span.name):
		return nil, fmt.Errorf("nothing that this file defines stands here")
	case !newName().MatchString(p.NewName):
		return nil, fmt.Errorf("a name is of letters, digits and _, and begins with none of the digits: not %q", p.NewName)
	case slices.Contains(definedNames(at.spans, at.span.kind), p.NewName):
		return nil, fmt.Errorf("a %s %q exists already", at.span.kind, p.NewName)
	}
	changes := map[uri.URI][]protocol.TextEdit{}
	for _, one := range same(at.spans, at.span) {
		changes[at.uri] = append(changes[at.uri], protocol.TextEdit{Range: at.page().rangeOf(one.line, one.start, one.end), NewText: p.NewName})
	}
	for _, t := range at.tokens {
		other := place{document: at.document, token: t}
		if !strings.HasPrefix(t.text, "@") || notationOf(t) != templateText {
			continue
		}
		text, err := s.read(other.fileNamed())
		if err != nil {
			continue
		}
		to := uri.File(filepath.FromSlash(other.fileNamed()))
		if changes[to] != nil {
			continue
		}
		beside := newPage(string(text))
		for i, line := range beside.lines {
			for _, one := range same(reads(line, i, 0), at.span) {
				changes[to] = append(changes[to], protocol.TextEdit{Range: beside.rangeOf(i, one.start, one.end), NewText: p.NewName})
			}
		}
	}
	return &protocol.WorkspaceEdit{Changes: changes}, nil
}

// CodeAction returns the fixes of the diagnostics in a range.
func (s *server) CodeAction(_ context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	d := s.open[fileOf(p.TextDocument.URI)]
	list := []protocol.CommandOrCodeAction{}
	if d == nil {
		return list, nil
	}
	var all []protocol.TextEdit
	quick, every := protocol.CodeActionKindQuickFix, protocol.CodeActionKindSourceFixAll
	for _, one := range d.found {
		f := one.Fix
		if f == nil || f.File != d.file {
			continue
		}
		edit := protocol.TextEdit{Range: d.page().rangeOf(f.Line-1, f.Column-1, f.EndColumn-1), NewText: f.Text}
		if f.Sure && !slices.ContainsFunc(all, func(e protocol.TextEdit) bool { return e.Range == edit.Range }) {
			all = append(all, edit)
		}
		if edit.Range.Start.Line > p.Range.End.Line || edit.Range.End.Line < p.Range.Start.Line {
			continue
		}
		sure := f.Sure
		list = append(list, &protocol.CodeAction{
			Title: fmt.Sprintf("Replace with %q", f.Text), Kind: &quick, IsPreferred: &sure, Diagnostics: []protocol.Diagnostic{diagnostic(one, s.page(one.File))},
			Edit: &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{d.uri: {edit}}},
		})
	}
	if len(all) > 0 {
		list = append(list, &protocol.CodeAction{Title: "Put right what can only be meant in one way", Kind: &every, Edit: &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{d.uri: all}}})
	}
	if only := p.Context.Only; len(only) > 0 {
		list = slices.DeleteFunc(list, func(one protocol.CommandOrCodeAction) bool {
			kind := *one.(*protocol.CodeAction).Kind
			return !slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
				return k == kind || strings.HasPrefix(string(kind), string(k)+".")
			})
		})
	}
	return list, nil
}

// DocumentSymbol returns the names that a file defines.
func (s *server) DocumentSymbol(_ context.Context, p *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
	d := s.open[fileOf(p.TextDocument.URI)]
	list := protocol.DocumentSymbolSlice{}
	if d == nil {
		return list, nil
	}
	kinds := map[kind]protocol.SymbolKind{phases: protocol.SymbolKindFunction, validations: protocol.SymbolKindInterface, toolNames: protocol.SymbolKindMethod, inputs: protocol.SymbolKindVariable}
	for _, one := range spans(d.tokens) {
		if one.defines && one.name != "" {
			r, detail := d.page().rangeOf(one.line, one.start, one.end), string(one.kind)
			list = append(list, protocol.DocumentSymbol{Name: one.name, Detail: &detail, Kind: kinds[one.kind], Range: r, SelectionRange: r})
		}
	}
	slices.SortStableFunc(list, func(a, b protocol.DocumentSymbol) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
	return list, nil
}
