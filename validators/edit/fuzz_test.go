package edit

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/processor"
)

// Small files, for the fuzzer to work on.
const (
	smallStatus = `presentation_spec: {voice: v, register: r, avoid: [x], preserve: [y]}
rubric: {primary_goal: p, secondary_goals: [s], non_goals: [n], stop_condition: z}
gap_policy: {close_in_text: c, extract_candidate: e, mark_format: "[GAP: <w>]"}
claim_ledger:
- {id: C1, status: asserted, span: a, claim: c, preservation_test: t}
- {id: C2, status: disputed, span: b, claim: c, preservation_test: t}
`
	smallDirection = "{direction_id: d, candidate_id: d.1, active_part: text, intent: i, constraints: [k]}"
	smallJudgement = `claims: {C1: pass, C2: {result: pass, reason: r}}
presentation: pass
primary_goal: improved
secondary_goals: {SG1: improved}
non_goals: pass
gap_policy: pass
direction: {intent: pass, constraints: {K1: pass}}
adds_requirement: false
hides_derivation: false
part_goal_met: true
requires_followup_text_candidate: false
`
)

// FuzzVerify checks the result for any files: an input error or a report. A
// report must be deterministic. A parsed report must be written as the same
// bytes. No candidate is accepted without a judgement or without a change.
//
// The fuzzer changes one file in one place. With all files it would spend its
// time on minimizing them, which takes a time quadratic in their length.
func FuzzVerify(f *testing.F) {
	const status, candidate, metadata, direction, judgement = 0, 1, 2, 3, 4
	for part := range uint8(5) {
		f.Add(part, uint8(direction), uint16(0), uint8(0), "", "a b", "a c")
	}
	f.Add(uint8(3), uint8(candidate), uint16(strings.Index(smallStatus, "goal: p")+6), uint8(1), "q", "a", "b")
	f.Add(uint8(1), uint8(candidate), uint16(strings.Index(smallStatus, "C2")), uint8(2), `"C\u2028 2"`, "a", "b")
	f.Add(uint8(0), uint8(metadata), uint16(31), uint8(0), ", source_hash: x", "a", "b")
	f.Add(uint8(0), uint8(judgement), uint16(8), uint8(12), `{C1: {result: fail, reason: "\uFFFE\x85\e[0m"}`, "a", "b")
	f.Add(uint8(0), uint8(judgement), uint16(0), uint8(200), "direction: [x]", "---\na: 1\n---\nb", "---\na: 1.0\n---\nc [GAP")
	f.Add(uint8(0), uint8(status), uint16(0), uint8(0), "%", "a 1 `b` [c](d)\n\n| e | f |\n|---|---|\n| 1 | 2 |", "a 2 <!-- b -->\n\n> must not \u200b")
	f.Fuzz(func(t *testing.T, part, file uint8, at uint16, cut uint8, put, source, text string) {
		files := []string{smallStatus, smallStatus, "{candidate_source: editor_loop}", smallDirection, smallJudgement}
		active := allParts()[int(part)%len(allParts())]
		files[direction] = strings.Replace(files[direction], "text", string(active), 1)
		spliced := &files[int(file)%len(files)]
		from := int(at) % (len(*spliced) + 1)
		*spliced = (*spliced)[:from] + put + (*spliced)[min(from+int(cut), len(*spliced)):]
		if active == partText {
			files[candidate] = text
		}
		o := Options{
			ActivePart: active, Source: File{Content: source}, Status: File{Content: files[status]}, Candidate: File{Path: put, Content: files[candidate]},
			Metadata: File{Path: put, Content: files[metadata]}, Direction: File{Content: files[direction]}, Judgement: files[judgement],
		}
		r, err := Verify(o)
		if err != nil {
			if _, ok := errors.AsType[*InputError](err); !ok || err.Error() == "" {
				t.Fatalf("got %v", err)
			}
			return
		}
		checkReport(t, o, r)
		o.Judgement = nil
		if r, err := Verify(o); err != nil || r.Decision == Accept {
			t.Errorf("without a judgement: %s, %v", r.Decision, err)
		}
		if text == source && active == partText && r.Decision == Accept {
			t.Error("no change was accepted")
		}
	})
}

func checkReport(t *testing.T, o Options, r Report) {
	text, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Verification struct{ Decision, Reason string }
	}
	if err := yaml.Unmarshal(text, &read); err != nil || read.Verification.Decision != string(r.Decision) || read.Verification.Reason != r.Reason {
		t.Fatalf("%v: %s: %q is written as\n%s", err, r.Decision, r.Reason, text)
	}
	if again, _ := Verify(o); again.Decision != r.Decision || again.Reason != r.Reason {
		t.Errorf("asked again: %s: %s, it was %s: %s", again.Decision, again.Reason, r.Decision, r.Reason)
	}
	if !validID(r.CandidateID) || strings.Contains(r.File(), "..") && !strings.Contains(r.CandidateID, "..") {
		t.Errorf("the file is %q", r.File())
	}
	if (len(r.Questions) > 0) != (r.Decision == NeedsHumanReview) || r.Reason == "" || clean(r.Reason) != r.Reason {
		t.Errorf("%s: %q, %q", r.Decision, r.Reason, r.Questions)
	}
}

// TestHostileFiles checks texts that are made to cost time or memory.
func TestHostileFiles(t *testing.T) {
	const n = 1 << 15
	for name, text := range map[string]string{
		"brackets":    strings.Repeat("[", n),
		"braces":      strings.Repeat("{", n),
		"deep":        strings.Repeat("{a: ", n/2) + strings.Repeat("}", n/2),
		"dashes":      strings.Repeat("- ", n/2),
		"questions":   strings.Repeat("? ", n/2),
		"lists":       "a: [" + strings.Repeat("[],", n/4) + "]",
		"keys":        strings.Repeat("a: 1\n", n/6),
		"comments":    strings.Repeat("#\n", n/2),
		"quotes":      strings.Repeat(`"`, n),
		"aliases":     "a: &a [1]\nb: [" + strings.Repeat("*a,", n/4) + "]",
		"tags":        strings.Repeat("!a ", n/4),
		"markers":     strings.Repeat("[GAP ", n/5),
		"rules":       strings.Repeat("---\n", n/4),
		"not UTF-8":   strings.Repeat("\xff\xfe", n/2),
		"NUL":         strings.Repeat("\x00", n),
		"directives":  strings.Repeat("%YAML 1.2\n", n/10),
		"long scalar": "a: |\n" + strings.Repeat("  x\n", n/5),
	} {
		t.Run(name, func(t *testing.T) {
			start := processor.Time()
			defer func() {
				if took := processor.Time() - start; took > 4*time.Second {
					t.Errorf("took %v", took) // linear in the text it is a tenth of a second
				}
			}()
			for _, part := range []partName{partText, partRubric} {
				d := newDesk(t)
				if part == partRubric {
					d.forStatus(part)
				}
				d.o.Candidate.Content = text
				if r := d.verify(); r.Decision == Accept && part == partRubric {
					t.Errorf("%s: accepted", part)
				}
			}
			d := newDesk(t)
			for _, file := range []*File{&d.o.Status, &d.o.Metadata, &d.o.Direction} {
				was := *file
				file.Content = text
				if _, err := Verify(d.o); err == nil {
					t.Error("no error")
				}
				*file = was
			}
		})
	}
}
