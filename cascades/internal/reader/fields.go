package reader

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/windlass"
)

// Text reads a text. For a number or a date, it returns the text in the file.
func (r *Reader) Text(n *yaml.Node, what string) (string, bool) {
	n = r.Resolve(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Tag == "!!bool" {
		hint := ""
		if n.Kind == yaml.MappingNode {
			if advice := windlass.Value(what, "{}").Advice; advice != "" {
				hint = ": " + advice
			}
		}
		r.Error(n, codes.Type, "%s must be text, not %s%s", what, KindOf(n), hint)
		return "", false
	}
	return n.Value, true
}

// Word reads a text that must not be empty. It returns "" if it reports an error.
func (r *Reader) Word(n *yaml.Node, what string) string {
	s, ok := r.Text(n, what)
	if ok && strings.TrimSpace(s) == "" {
		r.Error(n, codes.Value, "%s must not be empty", what)
		return ""
	}
	return s
}

// Text returns the text under a key, or "".
func (o *Object) Text(key string) string {
	n := o.Get(key)
	if n == nil {
		return ""
	}
	s, _ := o.r.Text(n, key)
	if key == "description" {
		o.r.CheckComment(n)
	}
	return s
}

// Required returns the text under a key. It reports a missing key and an empty text.
func (o *Object) Required(key string) string {
	o.Needs(key)
	if n := o.Get(key); n != nil {
		return o.r.Word(n, key)
	}
	return ""
}

// Needs reports missing keys.
func (o *Object) Needs(keys ...string) {
	for _, key := range keys {
		if !o.Has(key) {
			o.r.Error(o.Node, codes.Missing, "%s needs %s", o.What, key)
		}
	}
}

// OneOf returns the word under a key, which must be one of the allowed words. Default: the
// first allowed word.
func (o *Object) OneOf(key string, allowed ...string) string {
	n := o.Get(key)
	if n == nil {
		return allowed[0]
	}
	s, ok := o.r.Text(n, key)
	switch w := windlass.Value(key, s); {
	case w.Effect == windlass.Renamed && slices.Contains(allowed, w.Here):
		o.r.ReadAs(n, key, s, w.Here)
		return w.Here
	case slices.Contains(allowed, s):
		return s
	case ok && w.Effect == windlass.Replaced:
		o.r.Error(n, codes.Value, "%s must be %s, not %q: %s", key, Alternatives(allowed), s, w.Advice)
	case ok:
		o.r.Error(n, codes.Value, "%s must be %s, not %q", key, Alternatives(allowed), s)
		o.r.Suggest(s, func() []string { return allowed })
	}
	return allowed[0]
}

// Whole returns the whole number under a key, which must be at least low. Default: otherwise.
func (o *Object) Whole(key string, low, otherwise int) int {
	n := o.Get(key)
	if n == nil {
		return otherwise
	}
	var i int
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil {
		o.r.Error(n, codes.Type, "%s must be a whole number, not %s%s", key, KindOf(n), filled(key, n))
		if _, err := strconv.Atoi(n.Value); err == nil {
			o.r.Replace(n, n.Value)
		}
		return otherwise
	}
	if i < low {
		o.r.Error(n, codes.Value, "%s must be at least %d, not %d", key, low, i)
		return otherwise
	}
	return i
}

// Number returns the finite number under a key, which must be more than 0. Default: 0.
func (o *Object) Number(key string) float64 {
	n := o.Get(key)
	if n == nil {
		return 0
	}
	var f float64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		o.r.Error(n, codes.Type, "%s must be a number, not %s", key, KindOf(n))
		if _, err := strconv.ParseFloat(n.Value, 64); err == nil {
			o.r.Replace(n, n.Value)
		}
		return 0
	}
	if f <= 0 {
		o.r.Error(n, codes.Value, "%s must be more than 0, not %s", key, n.Value)
		return 0
	}
	return f
}

// Flag returns the boolean under a key. Default: otherwise.
func (o *Object) Flag(key string, otherwise bool) bool {
	n := o.Get(key)
	if n == nil {
		return otherwise
	}
	var b bool
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
		o.r.Error(n, codes.Type, "%s must be true or false, not %s", key, KindOf(n))
		if word := booleans[strings.ToLower(n.Value)]; word != "" {
			o.r.Replace(n, word)
		}
		return otherwise
	}
	return b
}

// booleans maps words that other readers of YAML accept to true and false.
var booleans = map[string]string{"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}

// names matches a list of names with commas between them.
var names = patterns.Lazy(`^[^\s,]+(?:, ?[^\s,]+)*$`)

// units matches a number with a unit of time.
var units = patterns.Lazy(`^([0-9.]+) ?(s|m|h)(?:ec|econd|in|inute|r|our)?s?$`)

// maxSeconds is close to the maximum of a time.Duration.
const maxSeconds = 1e9

// Seconds converts a positive number of seconds to a duration.
func (o *Object) Seconds(key string, f float64) time.Duration {
	if f > maxSeconds {
		o.r.Error(o.Value[key], codes.Value, "%s must be at most %.0f seconds", key, maxSeconds)
		return 0
	}
	return max(time.Duration(f*float64(time.Second)), time.Nanosecond)
}

// Duration returns the time under a key, such as 90s or 2m. A number without a unit means
// seconds. Default: 0.
func (o *Object) Duration(key string) time.Duration {
	n := o.Get(key)
	if n == nil {
		return 0
	}
	if d, err := time.ParseDuration(n.Value); err == nil && d > 0 {
		return d
	}
	if f, err := strconv.ParseFloat(strings.TrimRight(n.Value, "s"), 64); err == nil && f > 0 {
		return o.Seconds(key, f)
	} else if err == nil {
		o.r.Error(n, codes.Value, "%s must be more than 0, not %s", key, n.Value)
		return 0
	}
	o.r.Error(n, codes.Type, "%s must be a time such as 90s or 2m, not %s", key, KindOf(n))
	if m := units().FindStringSubmatch(n.Value); m != nil {
		o.r.Replace(n, m[1]+m[2])
	}
	return 0
}

// List returns the elements of the list under a key.
func (o *Object) List(key string) []*yaml.Node {
	n := o.Get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.r.Error(n, codes.Type, "%s must be a list, not %s%s", key, KindOf(n), instead(key, n))
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Style == 0 && names().MatchString(n.Value) {
			o.r.Replace(n, "["+n.Value+"]")
		}
		return nil
	}
	return n.Content
}

// Texts returns the texts of the list under a key.
func (o *Object) Texts(key string) []string {
	var out []string
	for _, n := range o.List(key) {
		s, _ := o.r.Text(n, "an entry of "+key)
		out = append(out, s)
	}
	return out
}

// Alternatives joins words in the form "a, b or c".
func Alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
