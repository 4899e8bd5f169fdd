package templates

import (
	"errors"
	"io"
	"sync"

	"github.com/flosch/pongo2/v6"

	"github.com/seed61713e19/capstan/templates/jinja"
)

// The tag is a name that no pongo2 template of an embedder will have; what ends its bodies is no tag by itself.
const (
	tagBlock = "capstan"
	tagNext  = "n"
	tagEnd   = "e"
	walkKey  = "capstan"
)

// registered is set while the program is initialised: pongo2 keeps its tags in one unguarded map for the whole process,
// so that any later moment could race with the parsing of an embedder's own templates.
var registered = pongo2.RegisterTag(tagBlock, parseTag)

// builtinTags are shut off in our set. No skeleton has one; should a text ever slip into a skeleton, they are refused.
var builtinTags = []string{"autoescape", "block", "comment", "cycle", "extends", "filter", "firstof", "for", "if",
	"ifchanged", "ifequal", "ifnotequal", "import", "include", "lorem", "macro", "now", "set", "spaceless", "ssi",
	"templatetag", "widthratio", "with"}

// noFiles is a pongo2 loader that has nothing.
type noFiles struct{}

func (noFiles) Abs(_, name string) string { return name }

func (noFiles) Get(string) (io.Reader, error) { return nil, errors.New("templates cannot reach files") }

// documents is the one set of skeletons. pongo2 writes to a set whenever it parses, hence the lock. A document holds
// nothing of the template that it was made for, so that those of the same blocks share one.
type documents struct {
	sync.Mutex
	set  *pongo2.TemplateSet
	seen map[string]*pongo2.Template
}

// maxShape and maxShapes bound the skeletons that are kept: most templates have few blocks, and those alike.
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

// compile has pongo2 parse the blocks of a program; without blocks there is nothing to carry, and no document.
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
	if kept := all.seen[string(source)]; kept != nil {
		return kept, nil
	}
	document, err := all.set.FromBytes(source)
	if err == nil && len(source) <= maxShape && len(all.seen) < maxShapes {
		all.seen[string(source)] = document
	}
	return document, err
}

// skeleton is pongo2's view of a program: a tag for each block, with its bodies between.
type skeleton []byte

// Open is a block's tag.
func (s *skeleton) Open() { *s = append(*s, "{%"+tagBlock+"%}"...) }

// Next stands between two bodies.
func (s *skeleton) Next() { *s = append(*s, "{%"+tagNext+"%}"...) }

// Close ends a block.
func (s *skeleton) Close() { *s = append(*s, "{%"+tagEnd+"%}"...) }

// tag is a block in pongo2's document, with the bodies that pongo2 parsed for it.
type tag struct {
	parts []jinja.Part
}

// part is a body that pongo2 walks.
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

// carry walks the blocks of the whole template. Nothing is written by pongo2.
func (t *Template) carry(w *jinja.Walk) error {
	return t.document.ExecuteWriterUnbuffered(pongo2.Context{walkKey: w}, io.Discard)
}

// Carry walks the blocks inside; the walk's place is pongo2's context.
func (p part) Carry(w *jinja.Walk) error {
	if err := p.nodes.Execute(w.Place.(*pongo2.ExecutionContext), nil); err != nil {
		return err.OrigError
	}
	return nil
}

// Execute is where pongo2 comes to a block.
func (t *tag) Execute(ctx *pongo2.ExecutionContext, _ pongo2.TemplateWriter) *pongo2.Error {
	w, ok := ctx.Public[walkKey].(*jinja.Walk)
	if !ok {
		return ctx.Error("this tag is not available in templates", nil)
	}
	w.Place = ctx
	w.Block(t.parts)
	return nil
}
