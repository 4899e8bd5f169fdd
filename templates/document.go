package templates

import (
	"errors"
	"io"
	"sync"

	"github.com/flosch/pongo2/v6"

	"github.com/seed61713e19/capstan/templates/internal/jinja"
)

// pongo2 carries only the blocks of a template. It cannot render values as
// Jinja2 does: it prints 1.5 as 1.500000 and an undefined name as nothing, and
// its parsed template does not show which values a block prints.

// tagBlock is a name that no pongo2 template of an embedder has. tagNext and
// tagEnd end bodies and are no tags by themselves.
const (
	tagBlock = "capstan"
	tagNext  = "n"
	tagEnd   = "e"
	walkKey  = "capstan"
)

// registered is set during the initialisation of the program. pongo2 stores its
// tags in one map without a lock. A later registration could race with an
// embedder that parses its own templates.
var registered = pongo2.RegisterTag(tagBlock, parseTag)

// builtinTags are banned in our set. No skeleton contains one. The ban refuses
// them if text ever gets into a skeleton.
var builtinTags = []string{"autoescape", "block", "comment", "cycle", "extends", "filter", "firstof", "for", "if",
	"ifchanged", "ifequal", "ifnotequal", "import", "include", "lorem", "macro", "now", "set", "spaceless", "ssi",
	"templatetag", "widthratio", "with"}

// noFiles is a pongo2 loader without files.
type noFiles struct{}

func (noFiles) Abs(_, name string) string { return name }

func (noFiles) Get(string) (io.Reader, error) { return nil, errors.New("templates cannot reach files") }

// documents caches the parsed skeletons. pongo2 writes to its set when it
// parses, so a mutex guards it. A document contains no text of its template, so
// templates with the same blocks share one document.
type documents struct {
	sync.Mutex
	set  *pongo2.TemplateSet
	seen map[string]*pongo2.Template
}

// maxShape and maxShapes limit the cache. Most templates have few blocks and
// the same form.
const (
	maxShape  = 256 // bytes
	maxShapes = 256
)

var skeletons = sync.OnceValues(func() (*documents, error) {
	set := pongo2.NewSet("capstan", noFiles{})
	for _, tag := range builtinTags {
		if err := set.BanTag(tag); err != nil {
			return nil, err
		}
	}
	return &documents{set: set, seen: map[string]*pongo2.Template{}}, registered
})

// compile lets pongo2 parse the blocks of a program. It returns nil for a
// program without blocks.
func compile(program *jinja.Program) (*pongo2.Template, error) {
	var source skeleton
	program.Outline(&source)
	if len(source) == 0 {
		return nil, nil
	}
	all, err := skeletons()
	if err != nil {
		return nil, err
	}
	all.Lock()
	defer all.Unlock()
	if document := all.seen[string(source)]; document != nil {
		return document, nil
	}
	document, err := all.set.FromBytes(source)
	if err == nil && len(source) <= maxShape && len(all.seen) < maxShapes {
		all.seen[string(source)] = document
	}
	return document, err
}

// A skeleton is the source that pongo2 parses for a program: one tag per block,
// with its bodies between.
type skeleton []byte

// Open writes the tag of a block.
func (s *skeleton) Open() { *s = append(*s, "{%"+tagBlock+"%}"...) }

// Next separates two bodies.
func (s *skeleton) Next() { *s = append(*s, "{%"+tagNext+"%}"...) }

// Close ends a block.
func (s *skeleton) Close() { *s = append(*s, "{%"+tagEnd+"%}"...) }

// A tag is a block in pongo2's document, with its parsed bodies.
type tag struct {
	parts []jinja.Part
}

// A part is a body of a block. pongo2 executes it.
type part struct {
	nodes *pongo2.NodeWrapper
}

func parseTag(document *pongo2.Parser, _ *pongo2.Token, _ *pongo2.Parser) (pongo2.INodeTag, *pongo2.Error) {
	t := &tag{}
	for {
		nodes, _, err := document.WrapUntilTag(tagNext, tagEnd)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part{nodes})
		if nodes.Endtag == tagEnd {
			return t, nil
		}
	}
}

// carry executes the blocks of the whole template. pongo2 itself writes
// nothing.
func (t *Template) carry(w *jinja.Walk) error {
	return t.document.ExecuteWriterUnbuffered(pongo2.Context{walkKey: w}, io.Discard)
}

// Carry executes the blocks inside the part. w.Place must be the execution
// context of pongo2.
func (p part) Carry(w *jinja.Walk) error {
	if err := p.nodes.Execute(w.Place.(*pongo2.ExecutionContext), nil); err != nil {
		return err.OrigError
	}
	return nil
}

// Execute runs a block when pongo2 reaches it.
func (t *tag) Execute(ctx *pongo2.ExecutionContext, _ pongo2.TemplateWriter) *pongo2.Error {
	w, ok := ctx.Public[walkKey].(*jinja.Walk)
	if !ok {
		return ctx.Error("this tag is not available in templates", nil)
	}
	w.Place = ctx
	w.Block(t.parts)
	return nil
}
