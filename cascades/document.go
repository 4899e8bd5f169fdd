package cascades

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/documents"
)

// Document reads a file as the tree of its values, with its comments, whatever
// they mean: a document node that holds one value. An error is [Diagnostics]: what
// is neither YAML nor JSON, more than a cascade may hold, or contains itself.
func Document(name string, source []byte) (*yaml.Node, error) {
	p := &parser{file: name, source: source}
	if doc := p.document(); doc != nil && p.sound(doc.Content[0], nil) {
		return doc, nil
	}
	return nil, p.found
}

// document reads the file as a tree, or reports why there is none.
func (p *parser) document() *yaml.Node {
	source := documents.Unmarked(p.source)
	if len(source) > maxSource {
		p.report(nil, CodeTooLarge, "the file has %d bytes; a cascade may have %d", len(source), maxSource)
		return nil
	}
	doc, wrong := documents.Read(p.file, source)
	if wrong != nil {
		p.reportAt(Position{p.file, wrong.Line, wrong.Column}, CodeSyntax, "%s", wrong.Message)
	}
	return doc
}

// inside gives the places in the file of lines and columns of a scalar's text.
func (p *parser) inside(n *yaml.Node) func(line, column int) Position {
	var s *documents.Scalar
	return func(line, column int) Position {
		if s == nil {
			s = documents.NewScalar(p.sourceLines(), n)
		}
		line, column = s.Place(line, column)
		return Position{p.file, line, column}
	}
}

// sourceLines are the lines of the file, for places within scalars.
func (p *parser) sourceLines() []string {
	if p.lines == nil {
		p.lines = strings.Split(string(documents.Unmarked(p.source)), "\n")
	}
	return p.lines
}
