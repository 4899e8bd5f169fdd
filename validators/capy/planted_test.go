package capy

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A sound text is a good output of a stage.
type sound struct{ name, stage, text string }

// soundTexts are the good outputs that we wrote, and the real ones where they
// lie.
func soundTexts(t *testing.T) []sound {
	var list []sound
	for _, stage := range Stages() {
		list = append(list, sound{stage + ".md", stage, good(t, stage)})
	}
	for file, stage := range map[string]string{"BASE_T1.pass.md": "BASE_T1", "BASE_REFINE.pass.md": "BASE_REFINE", "BASE_T2.pass.md": "BASE_T2", "ENRICH_T2.pass.md": "ENRICH_T2"} {
		if text, err := os.ReadFile(filepath.Join("../../../shared/data/capy", file)); err == nil {
			list = append(list, sound{file, stage, string(text)})
		}
	}
	return list
}

var jsonFences = regexp.MustCompile("(?ms)^```json\n(.*?)^```$")

var asides = regexp.MustCompile(`(?i)sensitiv|tornado|comparison|peer|turn 1$`)

// outside lists the places between paragraphs that are in no fence.
func outside(text string) []int {
	var places []int
	fenced, aside := false, false // under a heading where no number is the result
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if strings.HasPrefix(line, "#") && !fenced {
			aside = asides.MatchString(line) || aside && strings.HasPrefix(line, "###")
		}
		at += len(line)
		if line == "\n" && !fenced && !aside && at < len(text)-1 {
			places = append(places, at)
		}
	}
	return places
}

// A tally of planted faults, by kind.
type plants struct {
	t              *testing.T
	planted, found map[string]int
}

func (p plants) plant(kind string, s sound, text string, caught func(Report) bool) {
	if text == s.text {
		return
	}
	p.planted[kind]++
	if r := judge(p.t, s.stage, text); caught(r) {
		p.found[kind]++
	} else if testing.Verbose() {
		p.t.Logf("%s survives in %s: %s", kind, s.name, r.reason())
	}
}

func fails(check string) func(Report) bool {
	return func(r Report) bool { return len(r.Issues) > 0 && r.Issues[0].Check == check }
}

func notes(r Report) bool { return r.Status != Pass }

// TestPlantedFaults plants faults in good outputs and wants nineteen of twenty
// found, of every kind.
func TestPlantedFaults(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	p := plants{t, map[string]int{}, map[string]int{}}
	policy, err := LoadPolicy(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range soundTexts(t) {
		if r := judge(t, s.stage, s.text); r.Status != Pass {
			t.Fatalf("%s: %s", s.name, r.Text())
		}
		row, _ := policy.stage(s.stage)
		for _, name := range row.Artifacts {
			digits := strings.TrimPrefix(name, "A.")
			named := regexp.MustCompile(`\bA\.?` + digits + `\b|\bA\.?` + digits + `_`)
			p.plant("artifact gone", s, named.ReplaceAllStringFunc(s.text, func(m string) string { return strings.Replace(m, "A", "B", 1) }), fails("artifacts_present"))
		}
		places := outside(s.text)
		for range 12 {
			at := places[rng.IntN(len(places))]
			put := func(phrase string) string { return s.text[:at] + phrase + "\n\n" + s.text[at:] }
			if len(row.Forbids) > 0 && row.Forbids[0].Value == "ivps" && row.Forbids[0].State == 0 {
				phrase := fabricated[rng.IntN(len(fabricated))]
				p.plant("fabricated value", sound{s.name + " (" + phrase + ")", s.stage, s.text}, put(phrase), fails("no_fabrication"))
			}
			p.plant("DR out of bounds", s, put([]string{"DR = 17.3%", "**Discount rate:** 3.1%", "The discount rate is 24%.", "| DR | 19% |\n|---|---|\n| x | y |"}[rng.IntN(4)]), notes)
			p.plant("ROIC out of bounds", s, put([]string{"ROIC: 260%", "Terminal ROIC = -4%", "The ROIC is 410%."}[rng.IntN(3)]), notes)
			if policy.Bounds["g"].Below != "" && (s.stage == "BASE_T2" || s.stage == "ENRICH_T2") {
				p.plant("g out of bounds", s, put([]string{"Terminal growth: 21%", "Terminal g = -1.5%", "g = 19%"}[rng.IntN(3)]), notes)
				p.plant("IVPS out of bounds", s, put([]string{"IVPS: -$4.10", "IVPS = 0.00", "Intrinsic value per share: $0.00"}[rng.IntN(3)]), fails("sanity_bounds"))
			}
			if s.stage == "IRR_T2" {
				p.plant("IRR out of bounds", s, put([]string{"E[IRR] = 210%", "Expected IRR: -72%", "P(IRR > Hurdle): 117%", "P(IRR > 15%) = -4%"}[rng.IntN(4)]), notes)
			}
		}
		fences := jsonFences.FindAllStringSubmatchIndex(s.text, -1)
		for range 40 {
			if len(fences) == 0 {
				break
			}
			f := fences[rng.IntN(len(fences))]
			body := []byte(s.text[f[2]:f[3]])
			i := rng.IntN(len(body))
			switch rng.IntN(4) {
			case 0:
				for i < len(body) && strings.IndexByte(`{}[],:"`, body[i]) < 0 {
					i++
				}
				body = append(body[:i:i], body[min(i+1, len(body)):]...)
			case 1:
				body = append(body[:i:i], append([]byte(","), body[i:]...)...)
			case 2:
				body = append(body[:i:i], append([]byte("}"), body[i:]...)...)
			default:
				body = []byte(strings.Replace(string(body), ": ", ": +", 1))
			}
			if !json.Valid(body) {
				p.plant("broken JSON", s, s.text[:f[2]]+string(body)+s.text[f[3]:], func(r Report) bool { return !r.Proceed })
			}
		}
		words := regexp.MustCompile(`(?m)^[A-Z][a-z].{20,}?[a-z]{3,} [a-z]{2,} [a-z]{3,}`).FindAllStringIndex(jsonFences.ReplaceAllStringFunc(s.text, func(f string) string { return strings.Repeat("x", len(f)) }), -1)
		for range 10 {
			if w := words[rng.IntN(len(words))]; !strings.Contains(s.text[w[0]:w[1]], ":") && strings.TrimSpace(s.text[w[1]:]) != "" {
				p.plant("cut in a sentence", s, s.text[:w[1]], func(r Report) bool { return !r.Proceed })
			}
		}
	}
	for kind, n := range p.planted {
		t.Logf("%s: %d of %d", kind, p.found[kind], n)
		if 20*p.found[kind] < 19*n {
			t.Errorf("%s: only %d of %d found", kind, p.found[kind], n)
		}
	}
}
