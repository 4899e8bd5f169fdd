package cascades

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// text reads a string. Numbers and dates are taken as they are written.
func (p *parser) text(n *yaml.Node, what string) (string, bool) {
	n = p.resolve(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Tag == "!!bool" {
		told := ""
		if n.Kind == yaml.MappingNode && windlass.Value(what, "{}") != "" {
			told = ": " + windlass.Value(what, "{}")
		}
		p.report(n, CodeType, "%s must be text, not %s%s", what, kindOf(n), told)
		return "", false
	}
	return n.Value, true
}

// word reads a text that must say something; "" when it was reported.
func (p *parser) word(n *yaml.Node, what string) string {
	s, ok := p.text(n, what)
	if ok && strings.TrimSpace(s) == "" {
		p.report(n, CodeValue, "%s must not be empty", what)
		return ""
	}
	return s
}

// text reads a string; "" when it is not there.
func (o *object) text(key string) string {
	n := o.get(key)
	if n == nil {
		return ""
	}
	s, _ := o.p.text(n, key)
	if key == "description" {
		o.p.halved(n)
	}
	return s
}

// required is text that must be there and say something.
func (o *object) required(key string) string {
	o.needs(key)
	if n := o.get(key); n != nil {
		return o.p.word(n, key)
	}
	return ""
}

// needs reports those of the keys that are not there.
func (o *object) needs(keys ...string) {
	for _, key := range keys {
		if !o.has(key) {
			o.p.report(o.node, CodeMissing, "%s needs %s", o.what, key)
		}
	}
}

// oneOf is one of the allowed words, or the first when it is not there.
func (o *object) oneOf(key string, allowed ...string) string {
	n := o.get(key)
	if n == nil {
		return allowed[0]
	}
	s, ok := o.p.text(n, key)
	switch here, told := windlass.Reads(key, s), windlass.Value(key, s); {
	case slices.Contains(allowed, here):
		o.p.otherwise(n, key, s, here)
		return here
	case slices.Contains(allowed, s):
		return s
	case ok && told != "":
		o.p.report(n, CodeValue, "%s must be %s, not %q: %s", key, list(allowed), s, told)
	case ok:
		o.p.report(n, CodeValue, "%s must be %s, not %q", key, list(allowed), s)
		o.p.suggest(s, func() []string { return allowed })
	}
	return allowed[0]
}

// whole is a whole number of at least low, or otherwise when it is not there.
func (o *object) whole(key string, low, otherwise int) int {
	n := o.get(key)
	if n == nil {
		return otherwise
	}
	var i int
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil {
		o.p.report(n, CodeType, "%s must be a whole number, not %s%s", key, kindOf(n), filled(key, n))
		if _, err := strconv.Atoi(n.Value); err == nil {
			o.p.put(n, n.Value)
		}
		return otherwise
	}
	if i < low {
		o.p.report(n, CodeValue, "%s must be at least %d, not %d", key, low, i)
		return otherwise
	}
	return i
}

// number is a finite number greater than 0, or 0 when it is not there.
func (o *object) number(key string) float64 {
	n := o.get(key)
	if n == nil {
		return 0
	}
	var f float64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		o.p.report(n, CodeType, "%s must be a number, not %s", key, kindOf(n))
		if _, err := strconv.ParseFloat(n.Value, 64); err == nil {
			o.p.put(n, n.Value)
		}
		return 0
	}
	if f <= 0 {
		o.p.report(n, CodeValue, "%s must be more than 0, not %s", key, n.Value)
		return 0
	}
	return f
}

// flag is true or false.
func (o *object) flag(key string, otherwise bool) bool {
	n := o.get(key)
	if n == nil {
		return otherwise
	}
	var b bool
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
		o.p.report(n, CodeType, "%s must be true or false, not %s", key, kindOf(n))
		if word := spoken[strings.ToLower(n.Value)]; word != "" {
			o.p.put(n, word)
		}
		return otherwise
	}
	return b
}

// spoken are words that other readers of YAML take for true and false.
var spoken = map[string]string{"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}

// names finds one name or several with commas between them.
var names = patterns.Lazy(`^[^\s,]+(?:, ?[^\s,]+)*$`)

// units are the words for a unit of time, by their first letter.
var units = patterns.Lazy(`^([0-9.]+) ?(s|m|h)(?:ec|econd|in|inute|r|our)?s?$`)

// maxSeconds is about what a duration can hold; nobody waits so long.
const maxSeconds = 1e9

// seconds makes a duration of a number that is more than 0.
func (o *object) seconds(key string, f float64) time.Duration {
	if f > maxSeconds {
		o.p.report(o.value[key], CodeValue, "%s must be at most %.0f seconds", key, maxSeconds)
		return 0
	}
	return max(time.Duration(f*float64(time.Second)), time.Nanosecond)
}

// duration is a time as Go writes it (90s, 2m) or a number of seconds.
func (o *object) duration(key string) time.Duration {
	n := o.get(key)
	if n == nil {
		return 0
	}
	if d, err := time.ParseDuration(n.Value); err == nil && d > 0 {
		return d
	}
	if f, err := strconv.ParseFloat(strings.TrimRight(n.Value, "s"), 64); err == nil && f > 0 {
		return o.seconds(key, f)
	} else if err == nil {
		o.p.report(n, CodeValue, "%s must be more than 0, not %s", key, n.Value)
		return 0
	}
	o.p.report(n, CodeType, "%s must be a time such as 90s or 2m, not %s", key, kindOf(n))
	if m := units().FindStringSubmatch(n.Value); m != nil {
		o.p.put(n, m[1]+m[2])
	}
	return 0
}

// list gives the elements of a sequence.
func (o *object) list(key string) []*yaml.Node {
	n := o.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.p.report(n, CodeType, "%s must be a list, not %s%s", key, kindOf(n), instead(key, n))
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Style == 0 && names().MatchString(n.Value) {
			o.p.put(n, "["+n.Value+"]")
		}
		return nil
	}
	return n.Content
}

// texts is a list of strings.
func (o *object) texts(key string) []string {
	var out []string
	for _, n := range o.list(key) {
		s, _ := o.p.text(n, "an entry of "+key)
		out = append(out, s)
	}
	return out
}

// list puts words into a row: a, b or c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
