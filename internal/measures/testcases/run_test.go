package testcases_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/runner/engine"
)

// TestLink checks that a linked test case uses the present file.
func TestLink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("flows", 0o755); err != nil {
		t.Fatal(err)
	}
	s := newStory(t, "", "x")
	s.files = []cascades.File{{Name: "flows/post.yaml", Text: []byte("cascade_id: c\nphases: [{name: a, instructions: '@prompt.md'}]\n")}, {Name: "flows/prompt.md", Text: []byte("Write.")}}
	for _, f := range s.files {
		if err := os.WriteFile(f.Name, f.Text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := testcases.Record(t.Context(), s.record(t), testcases.Options{Dir: "tests/a", Link: true, Known: s.known})
	if err != nil {
		t.Fatal(err)
	}
	all := tree(t, c.Dir)
	if len(all) != 4 || !strings.Contains(all["case.yaml"], "\ncascade: ../../flows/post.yaml\n") {
		t.Error(all)
	}
	if o := c.Run(t.Context(), s.known); !o.OK() {
		t.Error(text(o))
	}
	edit(t, "flows", "prompt.md", "Write.", "Do write.")
	if o := c.Run(t.Context(), s.known); o.OK() || !strings.Contains(text(o), "+Do write.") {
		t.Error(text(o))
	}
	if err := os.RemoveAll("flows"); err != nil {
		t.Fatal(err)
	}
	if o := c.Run(t.Context(), s.known); o.OK() || o.Differences[0].About != testcases.Invalid {
		t.Error(text(o))
	}
	if _, err := testcases.Record(t.Context(), s.record(t), testcases.Options{Dir: "tests/b", Link: true, Known: s.known}); err == nil {
		t.Error("a link to a file that is not there")
	}
}

// TestFreezeRefuses checks that a run that cannot be recorded writes no file.
func TestFreezeRefuses(t *testing.T) {
	s, taken := posted(t)
	empty := newStory(t, "cascade_id: c\nphases: [{name: a, compose: x, each: {in: []}}]\n").record(t)
	long := newStory(t, post, "short", "tiny", "long", "long enough")
	long.input = s.input
	run := long.record(t)
	dir := filepath.Join(t.TempDir(), "x")
	try := func(name, want string, change func(*testcases.Run, *testcases.Options)) {
		t.Helper()
		r, o := run, testcases.Options{Dir: dir, Known: s.known}
		change(&r, &o)
		if _, err := testcases.Record(t.Context(), r, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
	try("running", "has not ended", func(r *testcases.Run, _ *testcases.Options) { r.Result.Status = "running" })
	try("cancelled", "has not ended", func(r *testcases.Run, _ *testcases.Options) { r.Result.Status = engine.Cancelled })
	try("no files", "was not kept", func(r *testcases.Run, _ *testcases.Options) { r.Files = nil })
	try("other files", "not recorded", func(r *testcases.Run, _ *testcases.Options) {
		r.Files = []cascades.File{{Name: "c.yaml", Text: []byte("cascade_id: c\nphases: [{name: other, instructions: x}]\n")}}
	})
	try("other outcome", "cannot be recorded as a test", func(r *testcases.Run, _ *testcases.Options) {
		r.Result.Outputs = map[string]any{"draft": "another"}
	})
	try("other outcome of nothing", "cannot be recorded as a test", func(r *testcases.Run, _ *testcases.Options) {
		*r = empty
		r.Result.Outputs = map[string]any{"a": "another"}
	})
	try("other input", "another request", func(r *testcases.Run, _ *testcases.Options) {
		r.Input = map[string]any{"topic": "crows"}
	})
	try("not empty", "not a case", func(_ *testcases.Run, o *testcases.Options) {
		o.Dir = filepath.Dir(taken)
	})
}

// TestFreezeBelowExpectation checks that a run below its expected share of caught faults can be
// recorded, and then differs.
func TestFreezeBelowExpectation(t *testing.T) {
	s := newStory(t, "cascade_id: c\nphases: [{name: a, instructions: b, wards: {post: [{validator: min_length, with: {min: 1}}]}, expect: {caught: 0.9}}]\n", "We sold 12 kettles in May.")
	c, dir := s.freeze(t)
	if _, o := s.test(t, dir); c == nil || len(o.Differences) != 1 || o.Differences[0].About != testcases.Caught {
		t.Error(text(o))
	}
}

// TestFreezeCutOff checks that an interrupted recording leaves a failing test case, which the
// next recording replaces.
func TestFreezeCutOff(t *testing.T) {
	s := newStory(t, "cascade_id: c\nphases: [{name: a, instructions: b}]\n", "x")
	run := s.record(t)
	for _, blocked := range []string{"cascade", "effects", "input.json"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "case.yaml"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, blocked)
		if err := os.Symlink(filepath.Join("no", "where"), at); err != nil {
			t.Skip(err)
		}
		o := testcases.Options{Dir: dir, Known: s.known}
		if _, err := testcases.Record(t.Context(), run, o); err == nil {
			t.Fatalf("%s: it was written", blocked)
		}
		if head, _ := os.ReadFile(filepath.Join(dir, "case.yaml")); len(head) == 0 {
			t.Errorf("%s: what was written before is no case", blocked)
		}
		if all := testcases.RunAll(t.Context(), []string{dir}, s.known); all[0].OK() {
			t.Errorf("%s: a part of a case is ok", blocked)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if c, err := testcases.Record(t.Context(), run, o); err != nil || !c.Run(t.Context(), s.known).OK() {
			t.Errorf("%s: %v", blocked, err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newStory(t, "cascade_id: c\nphases: [{name: a, instructions: b}]\n", "x")
	run := s.record(t)
	for _, dir := range []string{"tests/b", "tests/a", "tests/deep/c", "elsewhere/d"} {
		if _, err := testcases.Record(t.Context(), run, testcases.Options{Dir: dir, Known: s.known}); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"linked": "elsewhere", "one": "tests/a", "elsewhere/also": "../tests/a", "elsewhere/aside": "../tests"} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err)
		}
	}
	for words, want := range map[string]string{
		"":                    "tests/a tests/b tests/deep/c",
		"linked":              "linked/also linked/d",
		"one":                 "one",
		"a":                   "tests/a",
		"b a tests/a":         "tests/a tests/b",
		"deep":                "tests/deep/c",
		"deep/c elsewhere":    "elsewhere/also elsewhere/d tests/deep/c",
		"./elsewhere/d":       "elsewhere/d",
		"tests a":             "tests/a tests/b tests/deep/c",
		"nothing":             "",
		"tests/a/effects":     "",
		"../" + "nowhere a b": "",
	} {
		got, err := testcases.Find("tests", strings.Fields(words)...)
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if strings.Join(got, " ") != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %v, %v", words, got, err)
		}
	}
	all := testcases.RunAll(t.Context(), []string{"tests/b", "tests/a", "tests/none"}, s.known)
	if len(all) != 3 || !all[0].OK() || all[0].Name != "b" || !all[1].OK() || all[2].OK() {
		t.Error(all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	all = testcases.RunAll(ctx, []string{"tests/b", "tests/a"}, s.known)
	if len(all) != 2 || all[0].OK() || all[1].Differences[0].About != testcases.Cancelled {
		t.Error(all)
	}
}

func TestReports(t *testing.T) {
	s, dir := posted(t)
	_, ok := s.test(t, dir)
	edit(t, dir, "input.json", "owls", "<&> \x01 crows")
	if _, err := testcases.Load(dir); err == nil {
		t.Error("a control character in JSON")
	}
	edit(t, dir, "input.json", "\x01", `\u0001`)
	_, bad := s.test(t, dir)
	all := []testcases.Outcome{ok, bad, testcases.RunAll(t.Context(), []string{"nowhere"}, s.known)[0]}
	if !strings.HasPrefix(text(ok), "ok   "+dir+" (0.") || !strings.HasPrefix(text(bad), "FAIL "+dir+" (0.") {
		t.Error(text(ok), text(bad))
	}
	if got := testcases.Summary(all, 0); got != "1 ok, 2 failed (0.00s)" {
		t.Error(got)
	}
	var b bytes.Buffer
	if err := testcases.Report(all).Write(&b, "junit"); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Error *struct{} `xml:"error"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != 3 || suite.Failures != 1 || suite.Errors != 1 || suite.Cases[0].Failure != nil || suite.Cases[2].Error == nil ||
		!strings.Contains(suite.Cases[1].Failure.Text, "+Write about <&>") {
		t.Errorf("%+v\n%s", suite, b.String())
	}
	b.Reset()
	if err := testcases.Report(all).Write(&b, "json"); err != nil {
		t.Fatal(err)
	}
	var report struct {
		OK    bool
		Cases []struct {
			Name        string
			OK          bool
			Differences []testcases.Difference
		}
	}
	if err := json.Unmarshal(b.Bytes(), &report); err != nil || report.OK || !report.Cases[0].OK || report.Cases[0].Differences == nil || report.Cases[1].Differences[0].Phase != "draft" {
		t.Errorf("%v %s", err, b.String())
	}
}

// TestInOrder checks that outcomes are in the order of the folders.
func TestInOrder(t *testing.T) {
	s, dir := posted(t)
	dirs := make([]string, 50)
	for i := range dirs {
		dirs[i] = filepath.Join(filepath.Dir(dir), fmt.Sprint("none", i))
		if i%3 == 0 {
			dirs[i] = dir
		}
	}
	var got []string
	testcases.Each(t.Context(), dirs, s.known, func(c *testcases.Case, o testcases.Outcome) {
		got = append(got, o.Dir)
		if (c != nil) != (o.Dir == dir) {
			t.Error(o)
		}
	})
	if !slices.Equal(got, dirs) {
		t.Error(got)
	}
}

func BenchmarkCases(b *testing.B) {
	s := newStory(b, post, "short", "tiny", "long", "long enough")
	s.input = map[string]any{"topic": "owls"}
	_, dir := s.freeze(b)
	dirs := slices.Repeat([]string{dir}, 500)
	for b.Loop() {
		for _, o := range testcases.RunAll(b.Context(), dirs, s.known) {
			if !o.OK() {
				b.Fatal(text(o))
			}
		}
	}
}
