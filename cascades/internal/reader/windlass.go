package reader

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/windlass"
)

// translate copies the values of renamed keys of Windlass or LARS to the keys of Capstan, so
// that diagnostics cover the values. The original key remains unknown, so that the file does
// not load.
func (o *Object) translate() {
	for _, key := range windlass.Synonyms(o.Kind) {
		w, _ := windlass.Key(o.Kind, key)
		if o.Has(key) && !o.Has(w.Here) {
			o.Keys[w.Here], o.Value[w.Here] = o.Keys[key], o.Value[key]
		}
	}
}

// Foreign reports a key of Windlass or LARS. It returns whether the key is such a key.
func (o *Object) Foreign(key string) bool {
	w, ok := windlass.Key(o.Kind, key)
	switch {
	case !ok:
	case w.Effect == windlass.Ignored:
		o.r.Ignored = append(o.r.Ignored, o.Keys[key])
	case w.Effect == windlass.Unsupported:
		o.r.Warn(o.Keys[key], codes.Ignored, "%s of %s changes nothing: %s", key, o.What, w.Advice)
	default:
		o.r.Error(o.Keys[key], codes.UnknownKey, "%s has no key %q: %s", o.What, key, w.Advice)
		if w.Here != "" {
			o.r.Last().Fix = &syntax.Fix{Text: w.Here}
			o.r.PlaceFix(key)
		}
	}
	return ok
}

// instead returns advice on a value of the wrong type, which another program may accept.
func instead(key string, n *yaml.Node) string {
	if advice := windlass.Value(key, n.Value).Advice; advice != "" {
		return ": " + advice
	}
	return asWritten(key, n)
}

// ReadAs warns that the reader takes a value of Windlass as a value of Capstan.
func (r *Reader) ReadAs(n *yaml.Node, key, foreign, own string) {
	r.Warn(n, codes.Meaning, "%s: %s is read as %s, its name here", key, foreign, own)
}

// filled returns advice on a template in place of a number, or "".
func filled(key string, n *yaml.Node) string {
	switch {
	case !strings.Contains(n.Value, "{{"):
		return ""
	case key == "factor":
		return ": a plan needs it before a run; a phase with each runs for every item of a list: each: {in: \"{{ … }}\"}"
	}
	return ": a plan needs it before a run; capstan convert FILE leaves it out"
}

// CheckComment warns about a text that YAML cuts at the character #, if this # probably does
// not begin a comment.
func (r *Reader) CheckComment(n *yaml.Node) {
	n = r.Resolve(n)
	if cut := n.LineComment; n.Kind == yaml.ScalarNode && n.Style == 0 && len(cut) > 1 && !strings.ContainsRune(" \t#!", rune(cut[1])) {
		r.Warn(n, codes.Meaning, "YAML reads %q as a comment: quote the text", clips.Sized(cut, 40))
	}
}
