package lsp

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
)

// check checks every open cascade that has the file as a part, and publishes
// the diagnostics.
func (s *server) check(ctx context.Context, file string) error {
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		d := s.open[name]
		if d.file != file && !slices.Contains(d.files, file) {
			continue
		}
		if err := s.checkDocument(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// checkDocument parses a document and publishes the diagnostics of the document
// and of its other files.
func (s *server) checkDocument(ctx context.Context, d *document) error {
	d.found, d.files = nil, nil
	if isCascade(d) {
		s.parse(d)
	}
	now := map[string][]protocol.Diagnostic{d.file: nil}
	pages := map[string]*page{}
	for _, one := range d.found {
		if other := s.open[one.File]; one.File == d.file || other == nil || !isCascade(other) { // an open cascade publishes its own diagnostics
			if pages[one.File] == nil {
				pages[one.File] = s.page(one.File)
			}
			now[one.File] = append(now[one.File], diagnostic(one, pages[one.File]))
		}
	}
	return s.replace(ctx, d.file, now)
}

// replace publishes the diagnostics that come from a document, and removes
// those of its last check. Several documents can have diagnostics for one file.
func (s *server) replace(ctx context.Context, file string, now map[string][]protocol.Diagnostic) error {
	changed := slices.AppendSeq(slices.Collect(maps.Keys(s.published[file])), maps.Keys(now))
	slices.Sort(changed)
	s.published[file] = now
	for _, other := range slices.Compact(changed) {
		var list []protocol.Diagnostic
		for _, by := range slices.Sorted(maps.Keys(s.published)) {
			list = append(list, s.published[by][other]...)
		}
		if err := s.publish(ctx, other, list); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) parse(d *document) {
	open := func(name string) ([]byte, error) {
		name = path.Clean(name)
		if !slices.Contains(d.files, name) {
			d.files = append(d.files, name)
		}
		return s.read(name)
	}
	known := s.options.Known
	known.Cache = &d.cache
	c, err := cascades.ParseFile(d.tree, open, known)
	switch {
	case errors.As(err, &d.found):
	case c != nil:
		d.good, d.plan, d.found = c, nil, c.Warnings
	}
}

// read returns the text of a file: from the editor if it is open there, else
// from the disk.
func (s *server) read(name string) ([]byte, error) {
	if d := s.open[name]; d != nil {
		return []byte(d.text), nil
	}
	return s.options.Read(name)
}

func (s *server) publish(ctx context.Context, file string, list []protocol.Diagnostic) error {
	p := &protocol.PublishDiagnosticsParams{URI: uri.File(filepath.FromSlash(file)), Diagnostics: append([]protocol.Diagnostic{}, list...)}
	if d := s.open[file]; d != nil {
		p.URI, p.Version = d.uri, protocol.NewOptional(d.version)
	}
	return s.client.PublishDiagnostics(ctx, p)
}

// page returns the page of a file.
func (s *server) page(file string) *page {
	if d := s.open[file]; d != nil {
		return d.page()
	}
	text, _ := s.read(file)
	return newPage(string(text))
}

func diagnostic(d syntax.Diagnostic, in *page) protocol.Diagnostic {
	severity := protocol.DiagnosticSeverityError
	if d.Severity == syntax.Warning {
		severity = protocol.DiagnosticSeverityWarning
	}
	start := d.Column - 1
	end := d.EndColumn - 1
	if d.EndLine > d.Line { // editors underline only the first line
		end = in.length(d.Line - 1)
	}
	return protocol.Diagnostic{
		Range: in.rangeOf(d.Line-1, start, end), Severity: severity, Code: protocol.String(d.Code),
		Source: protocol.NewOptional("capstan"), Message: protocol.String(d.Text()),
	}
}

// isCascade reports whether a document is a cascade, and not a script or
// another text.
func isCascade(d *document) bool {
	if ext := path.Ext(d.file); ext != ".yaml" && ext != ".yml" && ext != ".json" || strings.HasSuffix(strings.TrimSuffix(d.file, path.Ext(d.file)), ".scripted") {
		return false
	}
	return slices.ContainsFunc(d.tokens, func(t token) bool { return t.key && len(t.path) == 0 && (t.text == "cascade_id" || t.text == "phases") })
}

// beside returns the files that a document can name, relative to the document.
func (s *server) beside(d *document) []string {
	if s.options.List == nil {
		return nil
	}
	return s.options.List(path.Dir(d.file))
}
