package templates

import (
	"errors"
	"io"
	"strconv"

	"github.com/flosch/pongo2/v6"
)

// Names that no pongo2 template of an embedder will have.
const (
	tagStatement = "capstan_statement"
	tagNext      = "capstan_next"
	tagEnd       = "capstan_end"
	renderKey    = "capstan"
)

// registered is set while the program is initialised: pongo2 keeps its tags in one unguarded map for the whole process,
// so that any later moment could race with the parsing of an embedder's own templates.
var registered = pongo2.RegisterTag(tagStatement, parseTag)

// builtinTags are shut off in our sets. No skeleton has one; should a text ever slip into a skeleton, they are refused.
var builtinTags = []string{"autoescape", "block", "comment", "cycle", "extends", "filter", "firstof", "for", "if",
	"ifchanged", "ifequal", "ifnotequal", "import", "include", "lorem", "macro", "now", "set", "spaceless", "ssi",
	"templatetag", "widthratio", "with"}

// noFiles is a pongo2 loader that has nothing.
type noFiles struct{}

func (noFiles) Abs(_, name string) string { return name }

func (noFiles) Get(string) (io.Reader, error) { return nil, errors.New("templates cannot reach files") }

// compile has pongo2 parse the document of the statements. The set is the template's own, as pongo2 writes to a set
// whenever it parses.
func compile(statements body) (*pongo2.Template, []statement, error) {
	if registered != nil {
		return nil, nil, registered
	}
	set := pongo2.NewSet("capstan", noFiles{})
	for _, tag := range builtinTags {
		if err := set.BanTag(tag); err != nil {
			return nil, nil, err
		}
	}
	source, table := skeleton(statements)
	document, err := set.FromString(source)
	return document, table, err
}

// tag is a statement in pongo2's document, with the bodies pongo2 parsed for it.
type tag struct {
	number int
	parts  []part
}

// part is a body that pongo2 executes.
type part = *pongo2.NodeWrapper

// output is where pongo2 collects what is written: a bytes.Buffer at the top, a builder where a body is captured.
type output interface {
	pongo2.TemplateWriter
	Len() int
}

func parseTag(document *pongo2.Parser, _ *pongo2.Token, arguments *pongo2.Parser) (pongo2.INodeTag, *pongo2.Error) {
	number, bodies := arguments.MatchType(pongo2.TokenNumber), arguments.MatchType(pongo2.TokenNumber)
	if number == nil || bodies == nil {
		return nil, arguments.Error("two numbers expected", nil)
	}
	t := &tag{}
	t.number, _ = strconv.Atoi(number.Val)
	count, _ := strconv.Atoi(bodies.Val)
	for range count {
		wrapper, _, err := document.WrapUntilTag(tagNext, tagEnd)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, wrapper)
	}
	return t, nil
}

// Execute runs the statement for pongo2.
func (t *tag) Execute(ctx *pongo2.ExecutionContext, writer pongo2.TemplateWriter) *pongo2.Error {
	r, ok := ctx.Public[renderKey].(*render)
	out, sized := writer.(output)
	if !ok || !sized {
		return ctx.Error("this tag is not for templates of your own", nil)
	}
	r.context = ctx
	r.template.statements[t.number].run(r, t.parts, out)
	return nil
}
