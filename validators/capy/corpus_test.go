package capy

import (
	"os"
	"path/filepath"
	"testing"
)

// good reads the output of a stage that we wrote: one that passes.
func good(t testing.TB, stage string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", stage+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func judge(t testing.TB, stage, text string) Report {
	t.Helper()
	return judged(t, Options{Stage: stage}, text)
}

func TestGoodOutputs(t *testing.T) {
	for _, stage := range stageNames() {
		t.Run(stage, func(t *testing.T) {
			if r := judge(t, stage, good(t, stage)); r.Status != Pass {
				t.Errorf("%s", r.Text())
			}
		})
	}
}

func judged(t testing.TB, o Options, text string) Report {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g.Judge(text)
}

func judgeWith(o Options, text string) (Report, error) {
	g, err := New(o)
	if err != nil {
		return Report{}, err
	}
	return g.Judge(text), nil
}

// stageNames are the stages of the default policy.
func stageNames() []string {
	p, err := loadPolicy("", nil)
	if err != nil {
		panic(err)
	}
	return p.stageNames()
}
