package storytest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

const weighing = `A conversation that grows, with room for %[1]d.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, instructions: Add., tackle: [add], token_budget: {max_total: %[1]d, strategy: %[2]s}}]
-- script.yaml --
- {phase: a, role: summary, reply: "%[3]s", times: always}
- {phase: a, times: 14, tool_calls: [{name: add, arguments: {a: 1, b: 1}}]}
- {phase: a, reply: It is 2.}
`

var heavier = regexp.MustCompile(`weighs about (\d+) tokens.*?(\d+) (?:of token_budget|are left)`)

// A conversation of exactly the maximum weight fits: only heavier ones are pruned,
// summarized or end the run.
func TestWhatFitsMayStay(t *testing.T) {
	for strategy, near := range map[string]int{"fail": 230, "prune_oldest": 173, "summarize": 700} {
		heavy := 0
		for room := near - 12; room < near+12; room++ {
			text := fmt.Sprintf(weighing, room, strategy, strings.Repeat("One and one is two. ", 78))
			s := storytest.Read(t, "weighing", []byte(text))
			lines := &storytest.Transcript{}
			_, _ = engine.Run(s.Host(t, runner.WithSink(lines)), s.Cascade, s.Start())
			for line := range strings.Lines(lines.String()) {
				if found := heavier.FindStringSubmatch(line); found != nil {
					heavy++
					var weight, most int
					_, _ = fmt.Sscan(found[1]+" "+found[2], &weight, &most)
					if weight <= most {
						t.Errorf("%s", line)
					}
				}
				if strings.HasPrefix(line, "PROMISE BROKEN") {
					t.Errorf("%s %d: %s", strategy, room, line)
				}
			}
		}
		if heavy == 0 {
			t.Errorf("%s: nothing is too heavy", strategy)
		}
	}
}
