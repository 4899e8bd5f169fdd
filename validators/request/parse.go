package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
)

// ParseRequest reads a request: JSON, or the last fence of a text. The request must match
// the schema, formats included. Keys and ids of criteria must be unique, and fields must have
// the right case. Unknown fields are ignored. An error is a [*ProtocolError].
func ParseRequest(text []byte) (*Request, error) {
	var p problems
	r := read[Request](&p, text, requestForm())
	if r != nil {
		p.unique(len(r.Criteria), func(i int) string { return r.Criteria[i].ID })
	}
	if err := p.err("validation request"); err != nil {
		return nil, err
	}
	return r, nil
}

// unique reports criteria with the same id.
func (p *problems) unique(n int, id func(i int) string) {
	seen := map[string]bool{}
	for i := range n {
		if seen[id(i)] {
			p.add(fmt.Sprintf("acceptance_criteria[%d].id", i), "another criterion is called %q too; an id stands once", brief(id(i)))
		}
		seen[id(i)] = true
	}
}

// ParseResponse reads a response as [ParseRequest] reads a request. [Judge] compares it with
// its request.
func ParseResponse(text []byte) (*Response, error) {
	var p problems
	r := read[Response](&p, text, responseForm())
	if err := p.err("validation response"); err != nil {
		return nil, err
	}
	return r, nil
}

// Warnings returns the oddities of a request that are no errors.
func (r *Request) Warnings() []Problem {
	if strings.Contains(r.PRDID, ".") {
		return []Problem{{"prd_id", "has a dot: by the protocol an id is of capitals, digits and hyphens"}}
	}
	return nil
}

// read returns the message of a text, or nil after a problem.
func read[M any](p *problems, text []byte, f form) *M {
	value, ok := p.parse(text)
	if !ok {
		return nil
	}
	if !p.names(value, f.tree, "") {
		return nil
	}
	broken, err := f.schema.Check(nil, value)
	if err != nil {
		p.add("", "%v", err)
	}
	for _, v := range broken {
		p.violation(v)
	}
	if len(p.list) > 0 {
		return nil
	}
	message, err := decode[M](f.tree.only(value))
	if err != nil {
		p.undecoded(err)
		return nil
	}
	return message
}

// violation adds a violation of the schema.
func (p *problems) violation(v schema.Violation) {
	at := strings.TrimPrefix(strings.TrimPrefix(v.Path, "$"), ".")
	switch v.Rule {
	case "required":
		for name := range strings.SplitSeq(v.Expected, ", ") {
			p.add(join(at, name), "is missing")
		}
	case "enum":
		p.add(at, "must be %s, not %s", v.Expected, v.Got)
	case "format":
		p.add(at, "must be of %s, not %s", v.Expected, v.Got)
	default:
		p.add(at, "%s", v.Message)
	}
}

// only returns the value without fields that the tree does not have: the decoder would take
// a key in another case for a field.
func (t *tree) only(value any) any {
	if t.Properties == nil && t.Items == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(t.Properties))
		for key, sub := range t.Properties {
			if item, ok := v[key]; ok {
				out[key] = sub.only(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = t.Items.only(item)
		}
		return out
	default:
		return v
	}
}

func decode[M any](value any) (*M, error) {
	if object, ok := value.(map[string]any); ok {
		if stamp, ok := object["timestamp"].(string); ok {
			object["timestamp"] = moment(stamp)
		}
	}
	m, err := schema.As[M](value)
	return &m, err
}

// moment rewrites the small letters and leap seconds of RFC 3339, which package time refuses.
func moment(stamp string) string {
	stamp = strings.ToUpper(stamp)
	if _, err := time.Parse(time.RFC3339, stamp); err != nil && len(stamp) > 19 && stamp[17:19] == "60" {
		return stamp[:17] + "59" + stamp[19:]
	}
	return stamp
}

func (p *problems) undecoded(err error) {
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		p.add(bad.Field, "%s is too large", bad.Value)
		return
	}
	p.add("timestamp", "%v", err)
}
