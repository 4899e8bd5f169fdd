//go:build unix

package mutate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/mutate"
	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/runner"
)

// BenchmarkMutants plants faults in texts of 5 KB, and computed gates judge 10,000 of them.
// cpu-s/op is the processor time.
//
//	go test ./internal/measures/mutate -run '^$' -bench Mutants -benchtime 1x
func BenchmarkMutants(b *testing.B) {
	r, err := runner.New()
	if err != nil {
		b.Fatal(err)
	}
	c, err := cascades.Parse("c.yaml", []byte(`cascade_id: c
inputs_schema: {source: the source}
phases:
  - name: draft
    instructions: x
    wards:
      post:
        - {validator: word_count, with: {max: 2000}, mode: retry}
        - {validator: no_secrets}
        - {validator: input_sanitizer}
        - {validator: cites, with: {source: "{{ input.source }}"}}
        - {expr: "not (content contains 'TODO')"}
`), func(string) ([]byte, error) { return nil, errors.New("no file") }, r.Known())
	if err != nil {
		b.Fatal(err)
	}
	var texts []backtest.Text
	for i := range 100 {
		var text strings.Builder
		fmt.Fprintf(&text, "# Of owls %d\n\n", i)
		for n := 0; text.Len() < 5000; n++ {
			fmt.Fprintf(&text, "The owl of wood %d hears a mouse under %d cm of snow, and \"that is what it lives by\". Nobody in the village of Holm has seen it in the winter.\n\n", n, 30+n)
		}
		texts = append(texts, backtest.NewText(c, c.Phases[0], fmt.Sprint(i), text.String(), map[string]any{"source": text.String()}, nil))
	}
	planted, began := 0, processor.Time().Seconds()
	for b.Loop() {
		report, err := mutate.Test{Texts: texts, Host: r.Host(b.Context()), Seed: 1, Parallel: 2, Most: 6}.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		planted = report.Planted
	}
	b.ReportMetric(float64(planted), "mutants")
	b.ReportMetric((processor.Time().Seconds()-began)/float64(b.N), "cpu-s/op")
}
