package journal

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// exact gives a plain value that encodes so that [schema.Parse] reads the same
// back: 5.0 stays a float.
func exact(v any) any {
	if !blurred(v) {
		return v
	}
	switch v := v.(type) {
	case float64:
		return json.Number(strconv.FormatFloat(v, 'f', 1, 64))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = exact(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = exact(v[k])
		}
		return out
	}
	return v
}

// blurred tells of a value with a float in it that encodes as a whole number.
func blurred(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < 1e21
	case []any:
		return slices.ContainsFunc(v, blurred)
	case map[string]any:
		for k := range v {
			if blurred(v[k]) {
				return true
			}
		}
	}
	return false
}

func exactVerdict(v validators.Verdict) validators.Verdict {
	v.Evidence, v.Details = exact(v.Evidence), exact(v.Details)
	return v
}

func exactTold(v *event.Verdict) *event.Verdict {
	if v == nil || v.Evidence == nil && v.Details == nil {
		return v
	}
	told := *v
	told.Evidence, told.Details = exact(v.Evidence), exact(v.Details)
	return &told
}

func exactObject(v map[string]any) map[string]any {
	if !blurred(v) {
		return v
	}
	return exact(v).(map[string]any)
}

// decode reads JSON into v, with numbers as they are written. What is any in v
// is then made plain by the functions below.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// plain makes a decoded value a plain one, in place.
func plain(v *any) error {
	if *v == nil {
		return nil
	}
	made, err := schema.Plain(*v)
	*v = made
	return err
}

func plainObject(v *map[string]any) error {
	if *v == nil {
		return nil
	}
	made, err := schema.Plain(*v)
	*v, _ = made.(map[string]any)
	return err
}

func plainFinding(f *engine.Finding) error {
	if f == nil {
		return nil
	}
	if err := plain(&f.Verdict.Evidence); err != nil {
		return err
	}
	return plain(&f.Verdict.Details)
}

func plainTold(v *event.Verdict) error {
	if v == nil {
		return nil
	}
	if err := plain(&v.Evidence); err != nil {
		return err
	}
	return plain(&v.Details)
}

func plainResult(r *tool.Result) error {
	if r == nil {
		return nil
	}
	return plain(&r.Value)
}

func plainAnswer(a *engine.Answer) error {
	if a == nil {
		return nil
	}
	return plain(&a.Value)
}
