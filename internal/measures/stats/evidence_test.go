package stats_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/schema"
)

func evidence(n stats.Confusion) stats.Evidence {
	return stats.Evidence{
		Digest: "sha256:" + textA, Cascade: "post", Phase: "draft", Moment: "post", Time: noon, By: "1.0", Natural: stats.Tally{{Weight: 1, Texts: n}}, Passed: 3, Verdicts: 4,
		Planted: []stats.Planted{{Operator: "number_digit", Sure: "always", Caught: 2, N: 3}},
	}
}

func TestEvidenceReadsBack(t *testing.T) {
	f := stats.EvidenceFile{Gate: "tone"}.With(evidence(stats.Confusion{GoodPassed: 1}))
	f = f.With(evidence(stats.Confusion{GoodPassed: 2})) // takes the place of the first
	text, err := f.Text()
	if err != nil {
		t.Fatal(err)
	}
	back, err := stats.ParseEvidence(text)
	if err != nil || !reflect.DeepEqual(back, f) || len(back.Evidence) != 1 {
		t.Fatalf("got %+v, %v, want %+v", back, err, f)
	}
	check, err := schema.Compile(stats.EvidenceSchema())
	if err != nil {
		t.Fatal(err)
	}
	v, _ := schema.Parse(text)
	if found, err := check.Check(nil, v); err != nil || len(found) > 0 {
		t.Errorf("its own schema refuses it: %v %v", found, err)
	}
	if _, found, stale := back.For("post", "sha256:"+textA, "draft", "post"); !found || stale {
		t.Error("the gate's own evidence is not found")
	}
	if _, found, stale := back.For("post", "sha256:"+textB, "draft", "post"); found || !stale {
		t.Error("evidence of what the gate was is not stale")
	}
	if _, found, stale := back.For("post", "sha256:"+textA, "other", "post"); found || stale {
		t.Error("evidence of another phase is taken")
	}
	if _, found, stale := back.For("post", "sha256:"+textA, "draft", "turn"); found || stale {
		t.Error("evidence of another moment is taken, which is of other texts")
	}
	// The evidence of another cascade in the same folder is stored apart.
	if _, found, stale := back.For("other", "sha256:"+textB, "draft", "post"); found || stale {
		t.Error("evidence of another cascade's gate is stale")
	}
	theirs := evidence(stats.Confusion{BadPassed: 9})
	theirs.Cascade = "other"
	for cascade, want := range map[string]int{"post": 0, "other": 9, "third": 9} {
		if e, found, _ := f.With(theirs).For(cascade, "sha256:"+textA, "draft", "post"); !found || e.Natural.Texts().BadPassed != want {
			t.Errorf("of cascade %s there is %+v", cascade, e)
		}
	}
	other := evidence(stats.Confusion{BadPassed: 7})
	other.Moment = "turn"
	both := f.With(other)
	if e, found, _ := both.For("post", "sha256:"+textA, "draft", "post"); len(both.Evidence) != 2 || !found || e.Natural.Texts().BadPassed != 0 {
		t.Errorf("of one gate at two moments there is %+v", both.Evidence)
	}
	for _, test := range []struct{ old, to, want string }{
		{`"capstan-evidence"`, `"something"`, "format"},
		{`"version": 2`, `"version": 1`, "version 1"},
		{`"version": 2`, `"version": "2"`, "version"},
		{`"passed": 3`, `"passed": 5`, "5 of 4"},
		{`"bad_passed": 0`, `"bad_passed": -1`, "below 0"},
		{`"weight": 1`, `"weight": 1.5`, "weight"},
		{`"weight": 1`, `"weight": 0`, "weight"},
		{`"caught": 2`, `"caught": 4`, "4 of 3"},
		{`"phase"`, `"phases"`, "phases"},
		{"sha256:", "md5:", "digest"},
		{"{", "", "evidence"},
	} {
		if _, err := stats.ParseEvidence([]byte(strings.Replace(string(text), test.old, test.to, 1))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: %v, want %q", test.to, test.old, err, test.want)
		}
	}
}

func TestAllows(t *testing.T) {
	strong := stats.Confusion{GoodPassed: 200, BadRefused: 68}
	judge := func(n stats.Confusion, h *stats.EmptyTextResult) stats.Evidence {
		e := evidence(n)
		e.AsksModel, e.EmptyTexts = true, h
		return e
	}
	for _, test := range []struct {
		name string
		e    stats.Evidence
		want string // in reason; "" if the gate is allowed
	}{
		{"68 bad texts refused", evidence(strong), ""},
		{"67 bad texts refused", evidence(stats.Confusion{GoodPassed: 200, BadRefused: 67}), "it passed 0 of 67 bad texts, so at most 5.1 %"},
		{"one more", evidence(stats.Confusion{GoodPassed: 200, BadRefused: 67}), "label 1 more bad text"},
		{"nothing", stats.Evidence{}, "it judged no text that is labelled bad: label 68 bad texts"},
		{"no bad texts", evidence(stats.Confusion{GoodPassed: 200}), "labelled bad: label 68 bad texts"},
		{"no good texts", evidence(stats.Confusion{BadRefused: 200}), "it judged no text that is labelled good"},
		{"good texts refused", evidence(stats.Confusion{GoodPassed: 190, GoodRefused: 10, BadRefused: 200}), "it rejected 10 of 200 good texts, so at most"},
		{"a gate that is too weak", evidence(stats.Confusion{GoodPassed: 200, BadPassed: 60, BadRefused: 140}), "more than 5.0 %: change the gate"},
		{"a judge that nobody asked about nothing", judge(strong, nil), "not judged the texts without content"},
		{"a judge that passes a colon", judge(strong, &stats.EmptyTextResult{Judged: 12, Passed: []string{":"}}), `passes ":"`},
		{"a judge", judge(strong, &stats.EmptyTextResult{Judged: 12}), ""},
		{"a judge that broke", judge(strong, &stats.EmptyTextResult{Judged: 1, NoVerdict: 11}), "judged 1 of the 12 texts without content and gave no verdict on 11"},
		{"a judge that broke once", judge(strong, &stats.EmptyTextResult{Judged: 11, NoVerdict: 1}), "judged 11 of the 12 texts without content and gave no verdict on 1"},
		{"a judge that broke always", judge(strong, &stats.EmptyTextResult{NoVerdict: 12}), "judged 0 of the 12 texts without content and gave no verdict on 12"},
		{"a judge that was asked about one", judge(strong, &stats.EmptyTextResult{Judged: 1}), "judged 1 of"},
		{"a judge that broke and passes a colon", judge(strong, &stats.EmptyTextResult{Judged: 1, NoVerdict: 11, Passed: []string{":"}}), `passes ":"`},
	} {
		ok, reason := test.e.Allows(0.95, 0.05, 0.02)
		if ok != (test.want == "") || !strings.Contains(reason, test.want) {
			t.Errorf("%s: %v, %q, want %q", test.name, ok, reason, test.want)
		}
	}
}

func TestEvidenceNames(t *testing.T) {
	if name := stats.EvidenceName(strings.Repeat("漢", 27)); name != strings.Repeat("%E6%BC%A2", 27)+".json" {
		t.Errorf("a name that a file may have is kept in %q", name)
	}
	seen := map[string]bool{}
	for _, gate := range []string{"tone", "../tone", "a/b", "a%2Fb", ".", "..", "", "capy T1", "*", "ü", strings.Repeat("漢", 27), strings.Repeat("漢", 28), strings.Repeat("漢", 29), strings.Repeat("a", 400), strings.Repeat("a", 401)} {
		name := stats.EvidenceName(gate)
		if seen[name] || len(name)+len("l") > 255 || strings.ContainsAny(name, `/\*`) || strings.HasPrefix(name, "..") {
			t.Errorf("%q is kept in %q", gate, name)
		}
		seen[name] = true
	}
}
