package schedule

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/gates/schedule-tables.md")

func TestPolicies(t *testing.T) {
	v3, v2 := mustPolicy(t, ""), mustPolicy(t, "v2")
	if v3.Limits.MinTypes != 12 || v2.Limits.MinTypes != 10 || v2.Limits.MinVariety != 75 || v2.hasGate(varietyGate) || !v3.hasGate(varietyGate) {
		t.Errorf("v3 %+v, v2 %+v", v3.Limits, v2.Limits)
	}
	own := mustPolicy(t, "extends: v2\nppv_message_types: [bundle]\nlimits: {min_captions: 7}\nrules:\n  vault: {code: NOT_THERE, severity: HIGH, status: WARNING}\n")
	if own.Limits.MinCaptions != 7 || own.Limits.MinTypes != 10 || own.Rules["vault"].Code != "NOT_THERE" || own.Rules["avoid"].Code != "AVOID_TIER_VIOLATION" {
		t.Errorf("%+v", own)
	}
	for _, p := range []*gatePolicy{v3, v2} {
		if p.Limits.MinCaptions != 50 || p.Rules["vault"].Code != "VAULT_VIOLATION" || slices.Contains(p.PPVMessageTypes, "bundle") {
			t.Error("one policy changes another")
		}
	}
	for _, wrong := range []string{
		"v4", "extends: v4", "limits: {min_typos: 1}", "limits: {min_types: -1}", "limits: {min_variety: .nan}", "limits: {max_type_share: 20}", "limits: {max_type_share: 0}",
		"rules: {vault: {code: X}}", "rules: {wault: {code: X, severity: LOW, status: INFO}}", "rules: {vault: {code: X, severity: BAD, status: INFO}}",
		"rules: {vault: {code: X, severity: LOW, status: FINE}}", "gates: [schedule_typo]", "limits: {cluster_items: 1}", "a: b", "\x00:", "limits: [", "extends: [v3]",
	} {
		if p, err := loadPolicy(wrong); err == nil {
			t.Errorf("%q: %+v", wrong, p.Limits)
		}
	}
	for text, first := range map[string]string{"limits: {min_types: -1, min_brand: -1}": "min_brand", "rules: {b: {code: X}, a: {code: X}}": `"a"`} {
		for range 20 {
			if _, err := loadPolicy(text); err == nil || !strings.Contains(err.Error(), first) {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	if types := everySendType(); len(types) != 22 || len(sendTypes()) != 24 {
		t.Errorf("%d send types", len(types))
	}
	count := map[string]int{}
	for _, s := range everySendType() {
		count[s.Category]++
	}
	if !maps.Equal(count, map[string]int{revenue: 9, engagement: 9, retention: 4}) {
		t.Errorf("%v", count)
	}
}

// TestPolicyDecides checks that verdicts depend on the policy file, not on the code.
func TestPolicyDecides(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	w := h.certified(week(54))
	itemOf(w, 0)["content_type"] = "pottery"
	v := h.verdict(qualityGate, w, map[string]any{"policy": "rules:\n  vault: {code: NOT_THERE, severity: LOW, status: WARNING}\n  avoid: {code: LEFT_OUT, severity: MODERATE, status: REJECTED, return_to: nowhere}\n"})
	expect{code: "LEFT_OUT", severity: "MODERATE", status: statusRejected, returnTo: "nowhere", refused: true}.check(t, v)
	if !slices.Contains(codes(v), "NOT_THERE") || v.Warnings[0].Severity != "LOW" {
		t.Errorf("%+v", v.Warnings)
	}
}

const page = "../../docs/reference/gates/schedule-tables.md"

// TestTablesOfThePage compares the page of decision tables with the policy file; -update
// writes it.
func TestTablesOfThePage(t *testing.T) {
	tables := decisionTables(t)
	if *update {
		if err := os.WriteFile(page, []byte(tables), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != tables {
		t.Errorf("%s is not what the policy file makes; run go test with -update: %v", page, err)
	}
}

// TestExampleNamesSendTypes checks that the instructions of the example's phases name
// the send types to choose from.
func TestExampleNamesSendTypes(t *testing.T) {
	text, err := os.ReadFile("../../cascades/examples/schedule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"send-type-allocator", "variety-enforcer"} {
		_, rest, _ := strings.Cut(string(text), "- name: "+phase+"\n")
		own, _, _ := strings.Cut(rest, "- name: ")
		for _, name := range typeNames() {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(own) {
				t.Errorf("%s does not name %s", phase, name)
			}
		}
	}
}

func decisionTables(t *testing.T) string {
	p := mustPolicy(t, "v3")
	var b strings.Builder
	b.WriteString("# Decision tables of the schedule gates\n\nGenerated from policy `v3` (`go test ./validators/schedule -run TestTablesOfThePage -update`). " +
		"BLOCKED, REJECTED and REVISE are\nissues; WARNING, NEEDS_REVIEW and INFO are warnings. [The gates](schedule.md) explains them.\n\n")
	for _, phase := range []struct{ name, title string }{
		{"0", "Phase 0: schedule_preflight"}, {"2.5", "Phase 2.5: schedule_variety"}, {"3/9", "Phases 3 and 9: schedule_selection and schedule_quality"}, {"9", "Phase 9: schedule_quality"},
		{"8.5", "Phase 8.5: schedule_critic"}, {"9.5", "Phase 9.5: schedule_anomaly"}, {"save", "Saving: schedule_certificate and save_schedule, in phase 2"},
	} {
		fmt.Fprintf(&b, "## %s\n\n| condition | code | severity | status | return to |\n|---|---|---|---|---|\n", phase.title)
		for _, name := range ruleNames {
			if r := p.Rules[name]; r.Phase == phase.name {
				fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", inWordsOf(p, r.When), r.Code, r.Severity, r.Status, r.ReturnTo)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("## Limits\n\n| limit | v3 | v2 |\n|---|---|---|\n")
	v3, v2 := p.Limits.byName(), mustPolicy(t, "v2").Limits.byName()
	for _, name := range slices.Sorted(maps.Keys(v3)) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, short(v3[name]), short(v2[name]))
	}
	b.WriteString("\n## Send types\n\n| key | category | pages | PPV slot | also |\n|---|---|---|---|---|\n")
	for _, s := range everySendType() {
		pages, ppv := s.Page, ""
		if pages == "" {
			pages = "both"
		}
		if s.PPV {
			ppv = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Key, s.Category, pages, ppv, strings.Join(s.Aliases, ", "))
	}
	return b.String()
}

// inWordsOf replaces the names in a rule's text by the values of the limits.
func inWordsOf(p *gatePolicy, when string) string {
	limits := p.Limits.byName()
	limits["content_slots"] = math.Ceil(1 / p.Limits.MaxContentShare)
	for name, value := range limits {
		text := short(value)
		if strings.HasSuffix(name, "_share") || strings.HasSuffix(name, "_revenue") {
			text = strconv.FormatFloat(100*value, 'g', -1, 64) + " %"
		}
		when = strings.ReplaceAll(when, "{"+name+"}", text)
	}
	return when
}

// TestRulesNameTheirLimits checks that every name in braces is a limit.
func TestRulesNameTheirLimits(t *testing.T) {
	p := mustPolicy(t, "v3")
	for name, r := range p.Rules {
		if words := inWordsOf(p, r.When); strings.ContainsAny(words, "{}") || r.When == "" {
			t.Errorf("rule %s: %q", name, words)
		}
	}
}
