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

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A resource is a schema with an address of its own: the document, or what has
// an $id in it. References and anchors are relative to it.
type resource struct {
	uri       string
	doc       string // the address of the document that it is in
	at        string // where in it, as a JSON pointer
	raw       any
	dialect   *dialect
	anchors   map[string]string // name → pointer
	dynamic   map[string]*node  // those of $dynamicAnchor
	recursive bool              // $recursiveAnchor
	root      *node             // where recursive
	unchecked bool              // its dialect has not been asked about it
	entered   bool              // something in it is compiled
}

// A compiler makes nodes of what schemas say, each place once.
type compiler struct {
	docs      map[string]any
	resources map[string]*resource // by address
	places    map[string]*resource // by document#pointer, of resources
	indexed   map[string]bool      // places that the dialects know to be schemas
	nodes     map[string]*node
	traits    traits
	trusted   bool // what is compiled has been checked
	patterns  patterns.Group
}

// traits are what an evaluation must keep track of.
type traits struct {
	dynamic     bool // dynamic references: what they mean hangs on the way there
	unevaluated bool
}

func newCompiler() *compiler {
	return &compiler{
		docs: map[string]any{}, resources: map[string]*resource{}, places: map[string]*resource{},
		indexed: map[string]bool{}, nodes: map[string]*node{},
	}
}

// add takes a document in.
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

// dialectIn is the dialect that a schema asks for, d where it does not ask.
func dialectIn(raw any, d *dialect) (*dialect, error) {
	object, _ := raw.(map[string]any)
	uri, ok := object["$schema"].(string)
	if !ok {
		return d, nil
	}
	if named := dialectOf(uri); named != nil {
		return named, nil
	}
	return nil, fmt.Errorf("$schema %s is outside the schema, and nothing is fetched", strconv.Quote(Clip(uri, maxShown)))
}

// maxPointer bounds the pointer to a place of a schema, of which there is one
// for each place.
const maxPointer = 10_000

// index finds what has a name in raw, a schema at a place of res.
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
	for word, what := range res.dialect.words() {
		for step, raw := range what.in(object[word]) {
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

// in are the schemas that a word holds, in no order, each with its name or index
// within; neither where it is what the word holds.
func (what holds) in(held any) iter.Seq2[any, any] {
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

// identify notes the names of a schema, and gives the resource that it begins
// or is in.
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
		return res, nil // all else beside a $ref is nothing
	}
	if address != "" {
		if res, err = c.begin(res, at, object, address, d); err != nil {
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

// begin takes in the resource that begins at a place within res.
func (c *compiler) begin(res *resource, at string, object map[string]any, id string, d *dialect) (*resource, error) {
	uri, err := resolve(res.uri, id)
	if err != nil {
		return nil, err
	}
	if known := c.resources[uri]; known != nil && (known.doc != res.doc || known.at != at) {
		return nil, fmt.Errorf("two schemas have the address %s", strconv.Quote(Clip(id, maxShown)))
	}
	if at == "" {
		res.uri = uri // also known by the address that it was added under
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

// resource is the one at an address, of those that are here.
func (c *compiler) resource(uri string) (*resource, error) {
	if res := c.resources[uri]; res != nil {
		return res, nil
	}
	raw, d, ok := shipped(uri)
	if !ok {
		return nil, fmt.Errorf("%s is outside the schema, and nothing is fetched", strconv.Quote(Clip(uri, maxShown)))
	}
	return c.add(uri, raw, d)
}

// target is the schema that a reference within res leads to.
func (c *compiler) target(res *resource, ref string) (*node, error) {
	to, at, raw, err := c.follow(res, ref)
	if err != nil {
		return nil, err
	}
	in := c.around(to.doc, at)
	if _, object := raw.(map[string]any); object && !c.indexed[to.doc+"#"+at] {
		if err := c.found(in, at, raw); err != nil {
			return nil, err
		}
	}
	return c.node(c.around(to.doc, at), at, raw)
}

// follow finds where a reference within res leads: a place of the document that to
// is in, and what stands there.
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
		return nil, "", nil, fmt.Errorf("$ref %s: %w", strconv.Quote(Clip(ref, maxShown)), err)
	}
	at, ok := to.at+fragment, true
	if fragment != "" && fragment[0] != '/' {
		at, ok = to.anchors[fragment]
	}
	raw, found := lookUp(c.docs[to.doc], at)
	if !ok || !found {
		return nil, "", nil, fmt.Errorf("$ref %s leads nowhere", strconv.Quote(Clip(ref, maxShown)))
	}
	return to, at, raw, nil
}

// found takes in a schema that stands where dialects do not look for one.
func (c *compiler) found(in *resource, at string, raw any) error {
	if err := c.index(in, at, raw); err != nil {
		return err
	}
	if c.trusted {
		return nil
	}
	return ask(in.dialect, raw, at)
}

// around is the innermost resource that a place is in. The document is one at "", so
// that what leads up from /$defs/a/items, by /$defs/a and /$defs, comes to an end.
func (c *compiler) around(doc, at string) *resource {
	for {
		if res := c.places[doc+"#"+at]; res != nil {
			return res
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
}

// finish compiles a document and all that it leads to.
func (c *compiler) finish(res *resource) (*Schema, error) {
	root, err := c.node(res, "", res.raw)
	if err != nil {
		return nil, err
	}
	for again := true; again && c.traits.dynamic; { // what is compiled here may enter further resources
		if again, err = c.dynamics(); err != nil {
			return nil, err
		}
	}
	for _, n := range c.nodes {
		n.settle()
	}
	return &Schema{source: res.raw, root: root, traits: c.traits}, nil
}

// dynamics compiles what dynamic references may lead to; more tells whether
// there was anything.
func (c *compiler) dynamics() (more bool, err error) {
	var all []*resource
	for _, res := range c.places {
		if res.entered {
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

// checked asks the dialects about a document that was added: about each part of
// it the part's own. What the dialect around a part is asked about has the part
// emptied: {} keeps to every dialect.
func (c *compiler) checked(res *resource) error {
	raw := res.raw
	for _, other := range c.places {
		if other.unchecked && other.doc == res.doc {
			if err := ask(other.dialect, other.raw, other.at); err != nil {
				return err
			}
			other.unchecked = false
			raw = without(raw, strings.Split(other.at, "/")[1:])
		}
	}
	return ask(res.dialect, raw, res.at)
}

// without is a copy of raw with the schema that parts lead to emptied.
func without(raw any, parts []string) any {
	if len(parts) == 0 {
		return map[string]any{}
	}
	switch raw := raw.(type) {
	case map[string]any:
		made, key := maps.Clone(raw), untoken.Replace(parts[0])
		made[key] = without(raw[key], parts[1:])
		return made
	case []any:
		made := slices.Clone(raw)
		if i, err := strconv.Atoi(parts[0]); err == nil && i < len(made) {
			made[i] = without(raw[i], parts[1:])
		}
		return made
	}
	return raw
}

// ask checks a schema at a place against its dialect.
func ask(d *dialect, raw any, at string) error {
	broken, err := d.compiled().Check(nil, raw)
	if large, ok := errors.AsType[*unchecked](err); ok {
		broken = []Violation{{Path: large.path, Message: large.err.Error()}}
	} else if err != nil || len(broken) == 0 {
		return err
	}
	where := strings.TrimPrefix(broken[0].Path, "$")
	return errors.New("schema " + pathOf(stepsOf(at)) + where + ": " + broken[0].Message)
}

func stepsOf(at string) []step {
	var steps []step
	if at != "" {
		for _, part := range strings.Split(at, "/")[1:] {
			steps = append(steps, step{name: untoken.Replace(part), index: -1})
		}
	}
	return steps
}
