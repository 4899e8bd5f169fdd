package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Tools whose calls a proof must contain.
var provenCalls = []string{vaultTool, rankingsTool}

// proof returns the ValidationProof of layer 2 for a plan and its creator.
func proof(p *plan, f facts, now time.Time) map[string]any {
	stamp := now.UTC().Format(time.RFC3339)
	calls := map[string]any{}
	for _, name := range provenCalls {
		calls[name] = map[string]any{"called": true, "timestamp": stamp}
	}
	return map[string]any{
		"vault_types_fetched":     plainTexts(slices.Sorted(maps.Keys(f.inVault))),
		"avoid_types_fetched":     plainTexts(f.avoid()),
		"mcp_calls_executed":      calls,
		"mcp_avoid_filter_active": true,
		"earnings_ranking_used":   plainTexts(f.earningsRanking()),
		"ppv_content_rotation":    p.rotation(),
	}
}

func plainTexts(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// earningsRanking returns the allowed content types with their earnings, best
// first: "cooking:$45k".
func (f facts) earningsRanking() []string {
	rows := slices.Clone(f.rankings)
	rows = slices.DeleteFunc(rows, func(r ranking) bool { return !f.inVault[r.ContentType] || f.avoided[r.ContentType] })
	slices.SortStableFunc(rows, func(a, b ranking) int { return cmp.Compare(earned(b), earned(a)) })
	words := make([]string, len(rows))
	for i, r := range rows {
		words[i] = r.ContentType + ":" + dollars(earned(r))
	}
	return words
}

func earned(r ranking) float64 {
	if r.Earnings == nil {
		return 0
	}
	return *r.Earnings
}

func dollars(f float64) string {
	if f >= 1000 {
		return fmt.Sprintf("$%.0fk", math.Round(f/1000))
	}
	return fmt.Sprintf("$%.0f", f)
}

// rotation returns the PPV slots in the order of their times.
func (p *plan) rotation() []any {
	slots := []*item{}
	for i := range p.items {
		if k := p.items[i].kind; k != nil && k.PPV {
			slots = append(slots, &p.items[i])
		}
	}
	slices.SortStableFunc(slots, func(a, b *item) int { return cmp.Compare(a.at, b.at) })
	list := make([]any, len(slots))
	for i, s := range slots {
		list[i] = map[string]any{"slot": s.slot(), "content_type": optional(s.content), "position": i + 1}
	}
	return list
}

// slot returns an item's place in the week: "Mon-08:47".
func (it *item) slot() string {
	if it.day == noDay {
		return it.time
	}
	return weekday(it.day).String()[:3] + "-" + it.time
}

// proofGate checks the proof of layer 2 by four rules and compares it with the
// current database. It reports whether the proof is valid.
func (r *report) proofGate(p *plan, f facts) bool {
	proof, ok := p.proof.(map[string]any)
	if !ok {
		message := "there is no validation_proof"
		if p.proof != nil {
			message = "validation_proof must be an object, not " + show(p.proof)
		}
		r.add(proofMissing, finding{at: "validation_proof", message: message})
		return false
	}
	before := len(r.issues)
	vault, vaultOK := r.names(proof, "vault_types_fetched")
	avoid, avoidOK := r.names(proof, "avoid_types_fetched")
	if vaultOK && len(vault) == 0 {
		r.invalidProof("vault_types_fetched", "is empty")
		vaultOK = false
	}
	calls, _ := proof["mcp_calls_executed"].(map[string]any)
	for _, name := range provenCalls {
		if call, _ := calls[name].(map[string]any); call["called"] != true {
			r.invalidProof("mcp_calls_executed", "does not show that "+name+" was called")
		}
	}
	if proof["mcp_avoid_filter_active"] != true {
		r.invalidProof("mcp_avoid_filter_active", "must be true")
	}
	if vaultOK {
		r.compareNames("vault_types_fetched", vault, f.vaultTypes())
	}
	if avoidOK {
		r.compareNames("avoid_types_fetched", avoid, f.avoid())
	}
	return len(r.issues) == before
}

func (r *report) invalidProof(field, message string) {
	r.add(proofInvalid, finding{at: "validation_proof." + field, message: message})
}

// names parses a list of texts of the proof.
func (r *report) names(proof map[string]any, field string) ([]string, bool) {
	list, ok := proof[field].([]any)
	if !ok {
		r.invalidProof(field, "must be a list, not "+show(proof[field]))
		return nil, false
	}
	names := make([]string, len(list))
	for i, v := range list {
		if names[i], ok = v.(string); !ok {
			r.invalidProof(field, "must list names, not "+show(v))
			return nil, false
		}
	}
	return names, true
}

// compareNames compares sets: order and repetition do not matter.
func (r *report) compareNames(field string, got, want []string) {
	got, want = set(got), set(want)
	if slices.Equal(got, want) {
		return
	}
	r.add(proofMismatch, finding{
		at: "validation_proof." + field, message: "is not what the database has",
		expected: clip(strings.Join(want, ", ")), got: clip(strings.Join(got, ", ")),
	})
}

func set(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
