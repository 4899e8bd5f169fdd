package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/validators/schema"
)

// ParseRequest reads a request strictly: JSON by itself, or in the last fence of
// a prose text. It keeps to [RequestSchema], formats included, and on top of it
// no key stands twice, no field has another case, no two criteria have one id,
// timeout_seconds is at least 1, and no list has more than 10,000 items. Fields that the schema does not know
// are left alone. An error is a [*ProtocolError] with every problem.
func ParseRequest(text []byte) (*Request, error) {
	var p problems
	r := read[Request](&p, text, requestForm(), (*problems).timeout)
	if r != nil {
		p.unique(len(r.Criteria), func(i int) string { return r.Criteria[i].ID })
	}
	if err := p.err("validation request"); err != nil {
		return nil, err
	}
	return r, nil
}

// timeout wants a time, where there is one, in which something can be looked at.
// The published schema has no least value.
func (p *problems) timeout(value any) {
	if object, ok := value.(map[string]any); ok {
		if seconds, there := object["timeout_seconds"]; there && !atLeastOne(seconds) {
			p.add("timeout_seconds", "must be at least 1, not %v", seconds)
		}
	}
}

func atLeastOne(seconds any) bool {
	switch n := seconds.(type) {
	case int:
		return n >= 1
	case float64:
		return n >= 1
	case json.Number:
		f, err := n.Float64()
		return err != nil && !strings.HasPrefix(n.String(), "-") || f >= 1
	default:
		return true // no number, which the schema says
	}
}

// unique wants each of n criteria to have an id of its own.
func (p *problems) unique(n int, id func(i int) string) {
	seen := map[string]bool{}
	for i := range n {
		if seen[id(i)] {
			p.add(fmt.Sprintf("acceptance_criteria[%d].id", i), "another criterion is called %q too; an id stands once", brief(id(i)))
		}
		seen[id(i)] = true
	}
}

// ParseResponse reads a response as [ParseRequest] reads a request. It does not
// hold it against any request: [Judge] does.
func ParseResponse(text []byte) (*Response, error) {
	var p problems
	r := read[Response](&p, text, responseForm())
	if err := p.err("validation response"); err != nil {
		return nil, err
	}
	return r, nil
}

// Warnings are what is odd about a request that can be read.
func (r *Request) Warnings() []Problem {
	if strings.Contains(r.PRDID, ".") {
		return []Problem{{"prd_id", "has a dot: by the protocol an id is of capitals, digits and hyphens"}}
	}
	return nil
}

// read gives the message that a text holds; nil where there is a problem.
func read[M any](p *problems, text []byte, f form, more ...func(*problems, any)) *M {
	value, ok := p.parse(text)
	if !ok {
		return nil
	}
	explained := map[string]bool{}
	if !p.names(value, f.tree, "", explained) {
		return nil
	}
	broken, err := f.schema.Check(nil, value)
	if err != nil {
		p.add("", "%v", err)
	}
	for _, v := range broken {
		p.violation(v, explained)
	}
	for _, check := range more {
		check(p, value)
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

// violation adds what the schema does not allow.
func (p *problems) violation(v schema.Violation, explained map[string]bool) {
	at := fieldOf(v)
	switch v.Rule {
	case "required":
		for name := range strings.SplitSeq(v.Expected, ", ") {
			if field := join(at, name); !explained[field] {
				p.add(field, "is missing")
			}
		}
	case "enum":
		p.add(at, "must be %s, not %s%s", v.Expected, v.Got, spelling(v))
	case "format":
		p.add(at, "must be of %s, not %s%s", v.Expected, v.Got, zone(v))
	default:
		p.add(at, "%s", v.Message)
	}
}

// fieldOf is the field that a violation is of, as a problem names it.
func fieldOf(v schema.Violation) string {
	return strings.TrimPrefix(strings.TrimPrefix(v.Path, "$"), ".")
}

// spelling says how the value that was meant is written.
func spelling(v schema.Violation) string {
	var word string
	if json.Unmarshal([]byte(v.Got), &word) != nil {
		return ""
	}
	for _, try := range []string{strings.ToUpper(strings.TrimSpace(word)), strings.ToLower(strings.TrimSpace(word))} {
		for _, suffix := range []string{"", "ED", "PED"} {
			if meant := strings.TrimSuffix(try, suffix); meant != "" && strings.Contains(v.Expected, `"`+meant+`"`) {
				return ": write " + meant
			}
		}
	}
	return ""
}

func zone(v schema.Violation) string {
	if v.Expected != "format date-time" {
		return ""
	}
	return ": write it as 2006-01-02T15:04:05Z"
}

// only is the value with the fields of the tree and no others: the decoder
// below takes a key in any case for a field. Where the tree ends the value
// stays as it is.
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

// moment writes a date-time as the decoder of times wants it: RFC 3339 has
// small letters and leap seconds too.
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
