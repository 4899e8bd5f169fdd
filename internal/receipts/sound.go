package receipts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/wards"
)

func newFlaw(field, format string, args ...any) *signatures.Flaw {
	return &signatures.Flaw{Field: field, Err: fmt.Errorf(format, args...)}
}

// flaw returns the first field of a claim that is impossible or contradicts
// another, or nil. Digests must be valid and match. A gate must have a mode in
// which it counts. The text must have passed every gate that can reject it, or
// be marked as degraded by it. Texts must match their digests.
func (c *Claim) flaw() *signatures.Flaw {
	if c.Attempt < 1 {
		return newFlaw("attempt", "is %d, and they are counted from 1", c.Attempt)
	}
	if at := event.Path(c.Path).Last(); strings.HasPrefix(at, "attempt[") && at != string(event.Path("").At("attempt", c.Attempt)) {
		return newFlaw("attempt", "is %d, and the path is %s", c.Attempt, c.Path)
	}
	if flaw := c.digestFlaw(); flaw != nil {
		return flaw
	}
	if digest, err := PolicyDigest(c.Cascade.Files); err != nil || digest != c.Cascade.Digest {
		return newFlaw("cascade.digest", "is %s, and its files give %s", c.Cascade.Digest, digest)
	}
	for i, g := range c.Gates {
		field := fmt.Sprintf("gates[%d]", i)
		switch {
		case g.Mode != advisory && !wards.Mode(g.Mode).Enforces():
			return newFlaw(field+".mode", "is %q for %s, which is no mode of a gate that decides or notes", g.Mode, g.Name)
		case g.Mode != advisory && g.Verdict != GatePassed && !slices.Contains(c.Degraded, g.Name):
			return newFlaw(field+".verdict", "is %q for %s, which can refuse a text, and the text is not called degraded by it", g.Verdict, g.Name)
		}
		if flaw := g.flaw(field); flaw != nil {
			return flaw
		}
	}
	for i, g := range c.Shadow {
		field := fmt.Sprintf("shadow[%d]", i)
		if g.Mode != shadow {
			return newFlaw(field+".mode", "is %q for %s, which is not in shadow", g.Mode, g.Name)
		}
		if flaw := g.flaw(field); flaw != nil {
			return flaw
		}
	}
	for i, name := range c.Degraded {
		without := func(g Gate) bool { return g.Name == name && g.Mode != advisory && g.Verdict != GatePassed }
		if !slices.ContainsFunc(c.Gates, without) {
			return newFlaw(fmt.Sprintf("degraded[%d]", i), "is %q, and there is no such gate that can refuse a text and did not pass it", name)
		}
	}
	return c.textFlaw()
}

// digestFlaw returns the first invalid digest of the claim.
func (c *Claim) digestFlaw() *signatures.Flaw {
	list := [][2]string{{"text", c.Text}, {"cascade.digest", c.Cascade.Digest}}
	add := func(field, digest string) { list = append(list, [2]string{field, digest}) }
	if c.Capstan.Digest != "" {
		add("capstan.digest", c.Capstan.Digest)
	}
	if c.Output != "" {
		add("output", c.Output)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Cascade.Files)) {
		add("cascade.files."+name, c.Cascade.Files[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		add("inputs."+name, c.Inputs[name])
	}
	return invalidDigest(list)
}

// invalidDigest returns the first field with an invalid digest.
func invalidDigest(list [][2]string) *signatures.Flaw {
	for _, one := range list {
		if err := signatures.CheckDigest(one[1]); err != nil {
			return &signatures.Flaw{Field: one[0], Err: err}
		}
	}
	return nil
}

// flaw returns the first impossible field of a gate.
func (g *Gate) flaw(field string) *signatures.Flaw {
	if !slices.Contains([]string{GatePassed, GateRefused, GateSkipped, GateErred}, g.Verdict) {
		return newFlaw(field+".verdict", "is %q for %s, which is no verdict", g.Verdict, g.Name)
	}
	list := [][2]string{{field + ".digest", g.Digest}}
	if g.Reason != "" {
		list = append(list, [2]string{field + ".reason", g.Reason})
	}
	s := g.Strength
	if s == nil {
		return invalidDigest(list)
	}
	field += ".strength"
	if flaw := invalidDigest(append(list, [2]string{field + ".evidence", s.Evidence})); flaw != nil {
		return flaw
	}
	for _, rate := range []struct {
		name string
		at   [2]float64
		of   string
		n    int
	}{{"false_pass", s.FalsePass, "bad", s.Bad}, {"false_block", s.FalseBlock, "good", s.Good}} {
		switch low, high := rate.at[0], rate.at[1]; {
		case low < 0 || high > 1 || low > high:
			return newFlaw(field+"."+rate.name, "is from %v to %v, which is no interval of a share", low, high)
		case rate.n < 0:
			return newFlaw(field+"."+rate.of, "is %d, and texts are counted from 0", rate.n)
		case rate.n == 0 && (low > 0 || high < 1):
			return newFlaw(field+"."+rate.name, "is from %v to %v, and was measured on no text", low, high)
		}
	}
	return nil
}

// textFlaw returns the first included text that does not match its digest.
func (c *Claim) textFlaw() *signatures.Flaw {
	if c.Texts == nil {
		return nil
	}
	if digest := signatures.Digest([]byte(c.Texts.Text)); digest != c.Text {
		return newFlaw("texts.text", "is %s, and the text is said to be %s", digest, c.Text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Texts.Inputs)) {
		value, err := schema.Parse([]byte(c.Texts.Inputs[name]))
		if err != nil {
			return newFlaw("texts.inputs."+name, "is no JSON: %w", err)
		}
		if digest, err := valueDigest(value); err != nil || digest != c.Inputs[name] {
			return newFlaw("texts.inputs."+name, "is %s, and the input is said to be %q", digest, c.Inputs[name])
		}
	}
	reasons := map[string]string{}
	for _, g := range slices.Concat(c.Gates, c.Shadow) {
		reasons[g.Path] = g.Reason
	}
	for _, path := range slices.Sorted(maps.Keys(c.Texts.Reasons)) {
		if digest := signatures.Digest([]byte(c.Texts.Reasons[path])); digest != reasons[path] {
			return newFlaw("texts.reasons."+path, "is %s, and the reason is said to be %q", digest, reasons[path])
		}
	}
	return nil
}
