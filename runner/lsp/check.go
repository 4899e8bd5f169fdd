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
)

// check reads every open cascade that a file is part of, and tells what is wrong.
func (s *server) check(ctx context.Context, file string) error {
	for _, name := range slices.Sorted(maps.Keys(s.open)) {
		d := s.open[name]
		if d.file != file && !slices.Contains(d.files, file) {
			continue
		}
		if err := s.tell(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// tell reads a document and publishes what is wrong with it and, by way of it, with
// the files that it names.
func (s *server) tell(ctx context.Context, d *document) error {
	d.found, d.files = nil, nil
	if isCascade(d) {
		s.parse(d)
	}
	now := map[string][]protocol.Diagnostic{d.file: nil}
	pages := map[string]*page{}
	for _, one := range d.found {
		if other := s.open[one.File]; one.File == d.file || other == nil || !isCascade(other) { // else it tells of itself
			if pages[one.File] == nil {
				pages[one.File] = s.page(one.File)
			}
			now[one.File] = append(now[one.File], diagnostic(one, pages[one.File]))
		}
	}
	return s.replace(ctx, d.file, now)
}

// replace publishes what a document has to say of files, in the place of what it
// said before; of a file others may have to say something too.
func (s *server) replace(ctx context.Context, file string, now map[string][]protocol.Diagnostic) error {
	changed := slices.AppendSeq(slices.Collect(maps.Keys(s.told[file])), maps.Keys(now))
	slices.Sort(changed)
	s.told[file] = now
	for _, other := range slices.Compact(changed) {
		var list []protocol.Diagnostic
		for _, by := range slices.Sorted(maps.Keys(s.told)) {
			list = append(list, s.told[by][other]...)
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
	known.Memo = &d.memo
	c, err := cascades.Parse(d.file, []byte(d.text), open, known)
	switch {
	case errors.As(err, &d.found):
	case c != nil:
		d.good, d.plan, d.found = c, nil, c.Warnings
	}
}

// read reads a file as the editor has it, or as it is.
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

// page is a file for ranges to be found in it.
func (s *server) page(file string) *page {
	if d := s.open[file]; d != nil {
		return d.page()
	}
	text, _ := s.read(file)
	return newPage(string(text))
}

func diagnostic(d cascades.Diagnostic, in *page) protocol.Diagnostic {
	severity := protocol.DiagnosticSeverityError
	if d.Severity == cascades.Warning {
		severity = protocol.DiagnosticSeverityWarning
	}
	start := d.Column - 1
	end := in.wordEnd(d.Line-1, start)
	if d.Fix != nil {
		start, end = d.Fix.Column-1, d.Fix.EndColumn-1
	}
	return protocol.Diagnostic{
		Range: in.rangeOf(d.Line-1, start, end), Severity: severity, Code: protocol.String(d.Code),
		Source: protocol.NewOptional("capstan"), Message: protocol.String(d.Told()),
	}
}

// isCascade tells a cascade from a script and from other texts.
func isCascade(d *document) bool {
	if ext := path.Ext(d.file); ext != ".yaml" && ext != ".yml" && ext != ".json" || strings.HasSuffix(strings.TrimSuffix(d.file, path.Ext(d.file)), ".scripted") {
		return false
	}
	return slices.ContainsFunc(d.tokens, func(t token) bool { return t.key && len(t.path) == 0 && (t.text == "cascade_id" || t.text == "phases") })
}

// beside lists the files that a document could name, relative to it.
func (s *server) beside(d *document) []string {
	if s.options.List == nil {
		return nil
	}
	return s.options.List(path.Dir(d.file))
}
