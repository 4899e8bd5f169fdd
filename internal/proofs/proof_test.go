package proofs

import (
	"flag"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/internal/measures/stats"
)

var update = flag.Bool("update", false, "rewrite what stands in files")

func known() cascades.Known {
	return cascades.Known{Validators: cascadestest.Validators(), Tools: cascadestest.Tools()}
}

// proofOf is the proof of a file.
func proofOf(t testing.TB, file string) (*cascades.Cascade, *Proof) {
	t.Helper()
	c, err := cascades.Load(filepath.Base(file), cascadestest.Folder(filepath.Dir(file)), known())
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return c, Of(c)
}

// TestProofOfShipped checks that --proof has no findings in the embedded cascades.
func TestProofOfShipped(t *testing.T) {
	for _, file := range cascadestest.Glob(t, "../../cascades/examples/*.yaml") {
		if strings.HasSuffix(file, ".scripted.yaml") {
			continue
		}
		if _, p := proofOf(t, file); !p.Proven() {
			t.Errorf("%s", p.Text())
		}
	}
}

// TestProof checks the hostile cascades: exactly the tools marked "# bare" have a path
// without a gate. Their corrected versions have none.
func TestProof(t *testing.T) {
	for _, file := range cascadestest.Glob(t, "testdata/*/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			c, p := proofOf(t, file)
			var want, got []string
			for _, f := range c.Files {
				for i, line := range strings.Split(string(f.Text), "\n") {
					if strings.HasSuffix(line, " # bare") {
						want = append(want, fmt.Sprintf("%s:%d", f.Name, i+1))
					}
				}
			}
			for _, d := range p.Diagnostics() {
				if at := fmt.Sprintf("%s:%d", d.File, d.Line); !slices.Contains(got, at) {
					got = append(got, at)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) || strings.Contains(file, "/bare/") == p.Proven() {
				t.Errorf("bare %q, want %q\n%s", got, want, p.Text())
			}
			if p.Writers == 0 && !strings.HasSuffix(file, "reads.yaml") {
				t.Error("no tool that writes was found")
			}
		})
	}
}

// The proof of each is stored in a file: every path with its ends and gates, and graphs
// of those with several gates.
func TestProofTells(t *testing.T) {
	var b strings.Builder
	for _, file := range cascadestest.Glob(t, "testdata/*/*.yaml") {
		_, p := proofOf(t, file)
		fmt.Fprintf(&b, "-- %s --\n%s\n", filepath.ToSlash(file), strings.TrimSpace(p.Text()))
		if len(p.Paths) > 2 {
			g := p.Graph()
			fmt.Fprintf(&b, "%s\n%s\n%s\n", g.Mermaid(), g.Dot(), g.SVG())
		}
	}
	cascadestest.Golden(t, *update, "testdata/told.txt", b.String())
}

// A gate is measured only if a file beside its cascade has evidence for its definition,
// phase and moment.
func TestMeasured(t *testing.T) {
	for _, file := range cascadestest.Glob(t, "testdata/*/*.yaml") {
		c, p := proofOf(t, file)
		files := map[string]stats.EvidenceFile{}
		for _, within := range c.Within() {
			own, _ := proofOf(t, path.Join(path.Dir(filepath.ToSlash(file)), within.File))
			gates, err := own.Gates("", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gates {
				at := path.Join(path.Dir(within.File), stats.EvidenceDir, stats.EvidenceName(g.Name))
				files[at] = files[at].With(stats.Evidence{Digest: g.Digest, Cascade: own.ID, Phase: g.Phase, Moment: string(g.Moment), Natural: stats.Tally{{Weight: 1, Texts: stats.Confusion{GoodPassed: 99, BadRefused: 99}}}})
			}
		}
		measured := func(name string) ([]byte, error) {
			if f, there := files[name]; there {
				return f.Text()
			}
			return nil, fs.ErrNotExist
		}
		for _, d := range p.Unmeasured(0.05, "", measured) {
			if !strings.HasSuffix(d.Message, "a receipt tells which gates a text has passed, not here how strong they are") {
				t.Errorf("measured is not %v", d)
			}
		}
		for _, d := range p.Unmeasured(0.05, "", nil) {
			if !strings.HasSuffix(d.Message, "there are no files here, and so no evidence") && !strings.Contains(d.Message, "receipt") {
				t.Errorf("without files it is said %v", d)
			}
		}
		all := p.Unmeasured(0.05, "", cascadestest.Folder(filepath.Dir(file))).Error()
		for _, w := range p.Paths {
			for _, g := range w.Gates {
				if g.Moment == "receipt" {
					continue
				}
				if lacks := fmt.Sprintf("%v: tool %s: gate %s on the way of %s: there is no evidence", w.At, w.Tool, g, w.From); strings.Count(all, lacks) != 1 {
					t.Errorf("%q is not said once in %s", lacks, all)
				}
			}
		}
	}
}

// The effect of a condition is known only if it is the verdict or its negation.
func TestVerdictAsked(t *testing.T) {
	for when, want := range map[string]string{
		"output.valid": "yes", " ( output.valid )\n": "yes", "output.valid == true": "yes", "true == output.valid": "yes",
		"!output.valid": "no", "not output.valid": "no", "output.valid == false": "no", "false == output.valid": "no", "(output.valid != true)": "no",
		"output.valid or input.x": "", "output.valid == input.x": "", "!output.valid or true": "", "output.reason != ''": "", "true": "", "output": "",
	} {
		yes, no := verdictCondition(when)
		if got := map[[2]bool]string{{true, false}: "yes", {false, true}: "no", {true, true}: "both"}[[2]bool{yes, no}]; got != want {
			t.Errorf("%q: got %q, want %q", when, got, want)
		}
	}
}

// The number of distinguished taints per source is limited, and the one without a gate
// is always kept, in any order.
func TestStrandsAreBounded(t *testing.T) {
	for bare := range 2 * maxTaints {
		var s taints
		for i := range 2 * maxTaints {
			if i == bare {
				s = s.union(taints{newTaint(0, nil, nil)})
			}
			s = s.union(taints{newTaint(0, []int{i}, nil), newTaint(1, []int{i, i + 1}, nil)})
		}
		gated := map[int]int{}
		for _, one := range s {
			gated[one.from] += min(len(one.gates), 1)
		}
		if all := s.union(s); gated[0] < maxTaints-1 || gated[0] > maxTaints || gated[1] != maxTaints || len(s) != gated[0]+gated[1]+1 || len(all) != len(s) {
			t.Errorf("%d and %d ways have a gate, of %d", gated[0], gated[1], len(s))
		}
	}
}

// Results for the same facts are reused, so twelve cascades that call the next one six
// times are fast.
func TestSharedCascades(t *testing.T) {
	open := func(name string) ([]byte, error) {
		var i int
		if _, err := fmt.Sscanf(name, "c%d.yaml", &i); err != nil || i == 12 {
			return []byte("cascade_id: c12\nphases: [{name: a, instructions: x}]"), err
		}
		one := fmt.Sprintf("{ref: c%d.yaml, context_out: true}", i+1)
		return fmt.Appendf(nil, "cascade_id: c%d\nphases: [{name: a, instructions: x, sub_cascades: [%s]}]", i, strings.Join(slices.Repeat([]string{one}, 6), ", ")), nil
	}
	c, err := cascades.Load("c0.yaml", open, known())
	if err != nil {
		t.Fatal(err)
	}
	if Of(c).TooLarge {
		t.Error("it is too large to be followed")
	}
}

// A cascade that is too large to be followed is not proven, whatever was found.
func TestProofBeyond(t *testing.T) {
	p := &Proof{File: "x.yaml", TooLarge: true}
	const message = "nothing is proven: the cascade is too large to be followed"
	if d := p.Diagnostics(); p.Proven() || len(d) != 1 || d[0].Message != message || d[0].Position != (syntax.Position{File: "x.yaml", Line: 1, Column: 1}) || !d.Broken() {
		t.Errorf("proven %v, %v", p.Proven(), d)
	}
	if text := p.Text(); !strings.Contains(text, "not proven") || !strings.Contains(text, "too large to be followed") {
		t.Errorf("got %s", text)
	}
}
