package schema

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// A resource is a schema with its own address: the document, or a subschema
// with an $id. References and anchors are relative to their resource.
type resource struct {
	uri       string
	doc       string // address of its document
	at        string // JSON pointer to it within the document
	raw       any
	dialect   *dialect
	anchors   map[string]string // JSON pointers by name
	dynamic   map[string]*node  // the anchors from $dynamicAnchor, by name
	recursive bool              // it has $recursiveAnchor
	root      *node             // the compiled resource, if recursive
	unchecked bool              // not yet checked against its own dialect
	compiled  bool              // a node in it has been compiled
}

// A compiler makes one node for each place of its schemas.
type compiler struct {
	docs      map[string]any
	resources map[string]*resource // by address
	places    map[string]*resource // the resources by document#pointer
	indexed   map[string]bool      // places that the dialects treat as schemas
	nodes     map[string]*node
	traits    traits
	trusted   bool // the documents are known to be valid
	patterns  patterns.Group
}

// traits are the features of a schema that cost extra work during evaluation.
type traits struct {
	dynamic     bool // it has dynamic references, whose targets depend on the path to them
	unevaluated bool
}

func newCompiler() *compiler {
	return &compiler{
		docs: map[string]any{}, resources: map[string]*resource{}, places: map[string]*resource{},
		indexed: map[string]bool{}, nodes: map[string]*node{},
	}
}

// add adds a document and indexes it.
func (c *compiler) add(uri string, raw any, d *dialect) (*resource, error) {
	if named, err := dialectIn(raw, d); err != nil {
		return nil, err
	} else {
		d = named
	}
	c.docs[uri] = raw
	res := &resource{uri: uri, doc: uri, raw: raw, dialect: d}
	c.resources[uri], c.places[uri+"#"] = res, res
	return res, c.index(res, "", raw)
}

// dialectIn returns the dialect that a schema names in $schema. The default is
// d. An unknown dialect is an error.
func dialectIn(raw any, d *dialect) (*dialect, error) {
	object, _ := raw.(map[string]any)
	uri, ok := object["$schema"].(string)
	if !ok {
		return d, nil
	}
	if named := dialectOf(uri); named != nil {
		return named, nil
	}
	return nil, fmt.Errorf("$schema %s is outside the schema, and nothing is fetched", strconv.Quote(clips.Bytes(uri, maxShown)))
}

// maxPointer is the maximum length of a JSON pointer into a schema. The
// compiler stores one pointer for each place.
const maxPointer = 10_000

// index registers the addresses and anchors of raw, a schema at a place of res,
// and of its subschemas.
func (c *compiler) index(res *resource, at string, raw any) error {
	object, ok := raw.(map[string]any)
	if !ok || c.indexed[res.doc+"#"+at] {
		return nil
	}
	if len(at) > maxPointer {
		return errors.New("the schema is nested too deeply")
	}
	c.indexed[res.doc+"#"+at] = true
	res, err := c.identify(res, at, object)
	if err != nil {
		return err
	}
	for word, what := range res.dialect.subschemaKeywords() {
		for step, raw := range what.subschemas(object[word]) {
			below := at + "/" + token(word)
			if step != nil {
				below += "/" + token(fmt.Sprint(step))
			}
			if err := c.index(res, below, raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// subschemas yields the schemas in the value of a keyword, in no order. The
// first element is a name or an index, or nil if the value itself is the
// schema.
func (what keywordKind) subschemas(held any) iter.Seq2[any, any] {
	return func(yield func(at, raw any) bool) {
		switch held := held.(type) {
		case []any:
			for i, raw := range held {
				if what != list && what != oneOrList || !yield(i, raw) {
					return
				}
			}
		case map[string]any:
			if what == one || what == oneOrList {
				yield(nil, held)
				return
			}
			for name, raw := range held {
				if !yield(name, raw) {
					return
				}
			}
		}
	}
}

// identify registers the address and the anchors of a schema. It returns the
// resource that the schema starts or belongs to.
func (c *compiler) identify(res *resource, at string, object map[string]any) (*resource, error) {
	d, err := dialectIn(object, res.dialect)
	key := "$id"
	if err == nil && d.year == 4 {
		key = "id"
	}
	id, _ := object[key].(string)
	address, fragment, _ := strings.Cut(id, "#")
	if address != "" && err != nil {
		return nil, err
	}
	if _, ok := object["$ref"]; ok && d != nil && d.year < 2019 {
		return res, nil // drafts before 2019 ignore everything beside a $ref
	}
	if address != "" {
		if res, err = c.addResource(res, at, object, address, d); err != nil {
			return nil, err
		}
	}
	if res.dialect.year < 2019 {
		res.anchor(fragment, at)
		return res, nil
	}
	name, _ := object["$anchor"].(string)
	res.anchor(name, at)
	if name, _ = object["$dynamicAnchor"].(string); name != "" && res.dialect.year >= 2020 {
		res.anchor(name, at)
		if res.dynamic == nil {
			res.dynamic = map[string]*node{}
		}
		res.dynamic[name] = nil
	}
	res.recursive = res.recursive || object["$recursiveAnchor"] == true && at == res.at
	return res, nil
}

// addResource adds the resource that starts at a place within res.
func (c *compiler) addResource(res *resource, at string, object map[string]any, id string, d *dialect) (*resource, error) {
	uri, err := resolve(res.uri, id)
	if err != nil {
		return nil, err
	}
	if known := c.resources[uri]; known != nil && (known.doc != res.doc || known.at != at) {
		return nil, fmt.Errorf("two schemas have the address %s", strconv.Quote(clips.Bytes(id, maxShown)))
	}
	if at == "" {
		res.uri = uri // its original address stays valid
	} else {
		res = &resource{uri: uri, doc: res.doc, at: at, raw: object, dialect: d, unchecked: d != res.dialect}
		c.places[res.doc+"#"+at] = res
	}
	c.resources[uri] = res
	return res, nil
}

func (r *resource) anchor(name, at string) {
	if name == "" || strings.HasPrefix(name, "/") {
		return
	}
	if r.anchors == nil {
		r.anchors = map[string]string{}
	}
	r.anchors[name] = at
}

// resource returns the resource at an address. It may be a metaschema; it is
// never fetched.
func (c *compiler) resource(uri string) (*resource, error) {
	if res := c.resources[uri]; res != nil {
		return res, nil
	}
	raw, d, ok := embeddedSchema(uri)
	if !ok {
		return nil, fmt.Errorf("%s is outside the schema, and nothing is fetched", strconv.Quote(clips.Bytes(uri, maxShown)))
	}
	return c.add(uri, raw, d)
}

// target returns the node that a reference within res leads to.
func (c *compiler) target(res *resource, ref string) (*node, error) {
	to, at, raw, err := c.follow(res, ref)
	if err != nil {
		return nil, err
	}
	in := c.enclosing(to.doc, at)
	if _, object := raw.(map[string]any); object && !c.indexed[to.doc+"#"+at] {
		if err := c.addUnindexed(in, at, raw); err != nil {
			return nil, err
		}
	}
	return c.node(c.enclosing(to.doc, at), at, raw)
}

// follow resolves a reference within res. It returns the resource, the place in
// its document and the value there.
func (c *compiler) follow(res *resource, ref string) (to *resource, at string, raw any, err error) {
	uri, err := resolve(res.uri, ref)
	if err != nil {
		return nil, "", nil, err
	}
	address, fragment, _ := strings.Cut(uri, "#")
	if to, err = c.resource(address); err != nil {
		return nil, "", nil, err
	}
	if fragment, err = url.PathUnescape(fragment); err != nil {
		return nil, "", nil, fmt.Errorf("$ref %s: %w", strconv.Quote(clips.Bytes(ref, maxShown)), err)
	}
	at, ok := to.at+fragment, true
	if fragment != "" && fragment[0] != '/' {
		at, ok = to.anchors[fragment]
	}
	raw, found := lookUp(c.docs[to.doc], at)
	if !ok || !found {
		return nil, "", nil, fmt.Errorf("$ref %s leads nowhere", strconv.Quote(clips.Bytes(ref, maxShown)))
	}
	return to, at, raw, nil
}

// addUnindexed indexes and checks a schema at a place where its dialect expects
// none.
func (c *compiler) addUnindexed(in *resource, at string, raw any) error {
	if err := c.index(in, at, raw); err != nil {
		return err
	}
	if c.trusted {
		return nil
	}
	return checkDialect(in.dialect, raw, at)
}

// enclosing returns the innermost resource around a place. The search up the
// pointer ends at the latest at "", the resource of the document.
func (c *compiler) enclosing(doc, at string) *resource {
	for {
		if res := c.places[doc+"#"+at]; res != nil {
			return res
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
}

// finish compiles a document and everything that it refers to.
func (c *compiler) finish(res *resource) (*Schema, error) {
	root, err := c.node(res, "", res.raw)
	if err != nil {
		return nil, err
	}
	for again := true; again && c.traits.dynamic; { // compiling may reach further resources
		if again, err = c.compileDynamic(); err != nil {
			return nil, err
		}
	}
	for _, n := range c.nodes {
		n.hasReferences()
	}
	return &Schema{source: res.raw, root: root, traits: c.traits}, nil
}

// compileDynamic compiles the possible targets of dynamic references. It
// reports whether there were new ones.
func (c *compiler) compileDynamic() (more bool, err error) {
	var all []*resource
	for _, res := range c.places {
		if res.compiled {
			all = append(all, res)
		}
	}
	for _, res := range all {
		for name, made := range res.dynamic {
			if made != nil {
				continue
			}
			raw, ok := lookUp(c.docs[res.doc], res.anchors[name])
			if !ok {
				return false, errors.New("$dynamicAnchor " + name)
			}
			if res.dynamic[name], err = c.node(res, res.anchors[name], raw); err != nil {
				return false, err
			}
			more = true
		}
		if res.recursive && res.root == nil {
			if res.root, err = c.node(res, res.at, res.raw); err != nil {
				return false, err
			}
			more = true
		}
	}
	return more, nil
}

// checkDialects checks an added document against its dialects. Each part with a
// dialect of its own is checked against that dialect. The check of the
// surrounding schema sees {} in its place, which is valid in every dialect.
func (c *compiler) checkDialects(res *resource) error {
	raw := res.raw
	for _, other := range c.places {
		if other.unchecked && other.doc == res.doc {
			if err := checkDialect(other.dialect, other.raw, other.at); err != nil {
				return err
			}
			other.unchecked = false
			raw = replaceWithEmpty(raw, strings.Split(other.at, "/")[1:])
		}
	}
	return checkDialect(res.dialect, raw, res.at)
}

// replaceWithEmpty returns a copy of raw in which the schema at the path parts
// is {}.
func replaceWithEmpty(raw any, parts []string) any {
	if len(parts) == 0 {
		return map[string]any{}
	}
	switch raw := raw.(type) {
	case map[string]any:
		made, key := maps.Clone(raw), untoken.Replace(parts[0])
		made[key] = replaceWithEmpty(raw[key], parts[1:])
		return made
	case []any:
		made := slices.Clone(raw)
		if i, err := strconv.Atoi(parts[0]); err == nil && i < len(made) {
			made[i] = replaceWithEmpty(raw[i], parts[1:])
		}
		return made
	}
	return raw
}

// checkDialect checks a schema against its dialect. at is its place, for the
// error.
func checkDialect(d *dialect, raw any, at string) error {
	broken, err := d.metaschema().Check(nil, raw)
	if large, ok := errors.AsType[*textError](err); ok {
		broken = []Violation{{Path: large.path, Message: large.err.Error()}}
	} else if err != nil || len(broken) == 0 {
		return err
	}
	where := strings.TrimPrefix(broken[0].Path, "$")
	return errors.New("schema " + pathOf(stepsOf(at)) + where + ": " + broken[0].Message)
}

// stepsOf returns the steps of a JSON pointer. All of them are names, also the
// numbers of items.
func stepsOf(at string) []step {
	var steps []step
	if at != "" {
		for _, part := range strings.Split(at, "/")[1:] {
			steps = append(steps, step{name: untoken.Replace(part), index: -1})
		}
	}
	return steps
}
