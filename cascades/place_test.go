package cascades

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/builtins"
)

const placesOuter = `cascade_id: outer
validators:
  short: {use: max_length, with: {max: 100}}
  own: {expr: "len(content) > 1"}
tools:
  say: {exec: [echo], parameters: {type: object}}
  idle: {exec: [echo]}
phases:
  - {name: gate, tool: short, inputs: {content: "{{ input.a }}"}}
  - {name: length, tool: max_length, inputs: {content: x, max: 3}}
  - {name: act, tool: say, inputs: {}, wards: {post: [{validator: own}]}}
  - name: both
    together:
      - {name: left, instructions: l, wards: {post: [{expr: "true"}, {validator: own}]}}
      - name: right
        instructions: r
        tackle: [say, set_state]
        soundings: {factor: 2, validator: own}
        rules: {loop_until: own}
        wards:
          pre: [{expr: "true"}]
          tool: [{expr: "true"}]
          result: [{expr: "false"}]
          turn: [{validator: max_length, with: {max: "{{ input.n }}"}}]
  - {name: last, instructions: x, sub_cascades: [{ref: inner.yaml}], wards: {post: [{cascade: inner.yaml}]}}
`

const placesInner = `cascade_id: inner
phases:
  - {name: left, instructions: l, wards: {post: [{expr: "1 == 1"}]}}
`

func loadPlaced(t *testing.T, inner string) *Cascade {
	t.Helper()
	open := Unpacked([]File{{"dir/outer.yaml", []byte(placesOuter)}, {"dir/inner.yaml", []byte(inner)}})
	c, err := Load("dir/outer.yaml", open, Known{Validators: builtins.Default(), Tools: tool.NewSet()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPlacesResolve checks that a place refers to the same validator whenever
// the same files are loaded. In other files, the place is an error.
func TestPlacesResolve(t *testing.T) {
	c, again := loadPlaced(t, placesInner), loadPlaced(t, placesInner)
	other := loadPlaced(t, strings.Replace(placesInner, "1 == 1", "1 == 2", 1))
	if c.Digest() != again.Digest() || c.Digest() == other.Digest() {
		t.Fatalf("digests %s %s %s", c.Digest(), again.Digest(), other.Digest())
	}
	if want := "3648e2668b9fbe4232a5d66b0f7027030a34725793464135753facf2b211497b"; c.Digest() != want {
		t.Errorf("what other processes know as %s is %s", want, c.Digest())
	}
	seen := map[string]bool{}
	travelled := func(at *Place) *Place {
		text, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		var read Place
		if err := json.Unmarshal(text, &read); err != nil || read != *at {
			t.Fatalf("%s reads as %v: %v", text, read, err)
		}
		return &read
	}
	check := func(where string, at *Place, v *Validator) {
		if seen[at.String()] {
			t.Errorf("%s: %v is another's place too", where, at)
		}
		seen[at.String()] = true
		found, err := again.ValidatorAt(travelled(at))
		if err != nil || found == v || found.Name != v.Name || found.Description != v.Description {
			t.Errorf("%s: at %v is %+v: %v", where, at, found, err)
		}
		if _, err := found.Bound(map[string]any{"max": 3}); (err == nil) != (v.Cascade == nil) {
			t.Errorf("%s: what is at %v is a check of its own: %v", where, at, err)
		}
		if _, err := other.ValidatorAt(at); err == nil {
			t.Errorf("%s: %v is found in other files", where, at)
		}
	}
	for _, within := range c.Within() {
		for _, p := range within.EveryPhase() {
			for _, one := range p.Checks() {
				check(p.Name, one.Place, one.Validator)
			}
			for _, used := range p.tools() {
				if used.Validator != nil {
					check(p.Name, used.Place, used.Validator)
					continue
				}
				if found, err := again.ToolAt(travelled(used.Place)); err != nil || found.Name != used.Name || found.Description != used.Description {
					t.Errorf("%s: tool at %v is %+v: %v", p.Name, used.Place, found, err)
				}
				if _, err := other.ToolAt(used.Place); err == nil {
					t.Errorf("%s: tool at %v is found in other files", p.Name, used.Place)
				}
			}
		}
	}
	if found, err := again.ToolAt(travelled(c.Tools["idle"].Place)); err != nil || found.Name != "idle" {
		t.Errorf("a tool that no phase has is %+v: %v", found, err)
	}
	for name, v := range c.Validators {
		check("validators", &Place{Cascade: c.Digest(), File: c.File, Name: name}, v)
	}
	if len(seen) != 15 {
		t.Errorf("%d validators have a place: %v", len(seen), seen)
	}
	for _, at := range []*Place{nil, {}, {Cascade: c.Digest()}, {Cascade: c.Digest(), File: "dir/outer.yaml"}, {Cascade: c.Digest(), File: "dir/outer.yaml", Phase: "left", Moment: "post", Index: 2},
		{Cascade: c.Digest(), File: "dir/outer.yaml", Phase: "nowhere", Moment: "post"}, {Cascade: c.Digest(), File: "dir/outer.yaml", Phase: "nowhere", Name: "own"}, {Cascade: c.Digest(), File: "dir/outer.yaml", Phase: "left"}, {Cascade: c.Digest(), File: "dir/none.yaml", Phase: "left", Moment: "post"}} {
		if v, err := c.ValidatorAt(at); err == nil {
			t.Errorf("at %v is %v", at, v.Name)
		}
		if v, err := c.ToolAt(at); err == nil {
			t.Errorf("at %v is tool %v", at, v.Name)
		}
	}
	none := &Cascade{ID: "none"}
	if _, err := none.ToolAt(&Place{}); err == nil {
		t.Error("a cascade without files has places")
	}
}
