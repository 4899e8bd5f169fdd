package edit

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/reading"
)

// A policyDesk has a document with something of every kind, and one claim.
func policyDesk(t testing.TB, candidate string) *desk {
	d := newDesk(t)
	d.put("source.md", load(t, "policy.md"))
	d.put("candidates/d-04.1.md", candidate)
	d.put("status.yaml", `presentation_spec: {voice: calm, register: plain, avoid: [], preserve: []}
rubric: {primary_goal: clearer, secondary_goals: [], non_goals: [], stop_condition: x}
gap_policy: {close_in_text: c, extract_candidate: e, mark_format: "[GAP: <what is missing>]"}
claim_ledger:
- {id: C1, status: asserted, span: Nobody releases on a Friday, claim: c, preservation_test: t}
`)
	d.put("direction.yaml", "{direction_id: d-04, candidate_id: d-04.1, active_part: text, intent: Make it easier to read., constraints: []}")
	d.o.Judgement = `claims: {C1: pass}
presentation: pass
primary_goal: improved
non_goals: pass
gap_policy: pass
direction: {intent: pass}
adds_requirement: false
hides_derivation: false
`
	return d
}

// The judgement says yes to everything, and each sneak is found by computation
// all the same: by the fact that is named, or by a rejection for the reason.
var sneaks = []struct {
	name string
	swaps
	kind reading.Kind // of the fact; "" is a rejection
	why  string
}{
	{"number", swaps{"at least 3 of 5", "at least 2 of 5"}, reading.Numbers, "3"},
	{"number in words", swaps{"kept for two years", "kept for ten years"}, reading.Numbers, "10 year"},
	{"number dropped", swaps{" more than 30 seconds", " long"}, reading.Numbers, "30 s"},
	{"number new", swaps{"Sign it", "Sign it within 5 days"}, reading.Numbers, "5 day"},
	{"unit", swaps{"30 seconds", "30 minutes"}, reading.Numbers, "30 min"},
	{"unit of size", swaps{"above 10 MB", "above 10 GB"}, reading.Numbers, "10 GB"},
	{"numbers swapped", swaps{"3 of 5", "5 of 3"}, reading.Numbers, ""},
	{"date", swaps{"14 March 2025", "14 May 2025"}, reading.Dates, "2025-05-14"},
	{"day", swaps{"on a Friday", "on a Sunday"}, reading.Dates, "sunday"},
	{"link", swaps{"example.org/guide", "example.com/guide"}, reading.Links, "example.com"},
	{"links swapped", swaps{"org/guide", "org/x", "org/log", "org/guide", "org/x", "org/log"}, reading.Links, ""},
	{"link labels swapped", swaps{"[the guide]", "[the x]", "[the log]", "[the guide]", "[the x]", "[the log]"}, reading.Links, ""},
	{"link dropped", swaps{"[the log](https://example.org/log)", "the log"}, reading.Links, "gone"},
	{"code", swaps{"`make check`", "`make chek`"}, reading.Code, "chek"},
	{"code block", swaps{"&& make release", "|| make release"}, reading.Code, "||"},
	{"language of a code block", swaps{"```sh", "```bat"}, reading.Code, "bat"},
	{"quotation", swaps{"“a check that nobody runs is no check”", "“a check that nobody runs is a check”"}, reading.Quotations, "is a check"},
	{"quotation marks dropped", swaps{"“a check that nobody runs is no check”", "a check that nobody runs is no check"}, reading.Quotations, "gone"},
	{"block quote", swaps{"Haste is the enemy", "Haste is the friend"}, reading.Quotations, "friend"},
	{"must to may", swaps{"A release must pass", "A release may pass"}, reading.Modals, "may"},
	{"must to should", swaps{"A release must pass", "A release should pass"}, reading.Modals, "should"},
	{"shall not to shall", swaps{"shall not take", "shall take"}, reading.Modals, "shall not"},
	{"must dropped", swaps{"A release must pass", "A release passes"}, reading.Modals, "must"},
	{"cannot to can", swaps{"they cannot change", "they can change"}, reading.Modals, "cannot"},
	{"should to must", swaps{"should be written", "must be written"}, reading.Modals, "must"},
	{"not", swaps{"The service is safe", "The service is not safe"}, reading.Turns, "not"},
	{"nobody to everybody", swaps{"Nobody releases", "Everybody releases"}, reading.Turns, "Nobody"},
	{"every to some", swaps{"every check", "some check"}, reading.Turns, "some"},
	{"at least to at most", swaps{"at least 3", "at most 3"}, reading.Turns, "most"},
	{"before to after", swaps{"check before", "check after"}, reading.Turns, "after"},
	{"unless dropped", swaps{" unless the operator agrees", ""}, reading.Turns, "unless"},
	{"footnote", swaps{"begins in 2019", "begins after 2019"}, reading.Footnotes, "after"},
	{"footnote dropped", swaps{"\n[^1]: The log begins in 2019.\n", "", "log).[^1]", "log)."}, reading.Footnotes, "gone"},
	{"cell", swaps{"| Size  | 10 ", "| Size  | 12 "}, reading.Tables, "12"},
	{"row dropped", swaps{"| Tries | 3     | -    |\n", ""}, reading.Tables, "Tries"},
	{"column dropped", swaps{" Value | Unit |", " Value |", "|-------|------|", "|-------|", " 10    | MB   |", " 10    |", " 30    | s    |", " 30    |", "| 3     | -    |", "| 3     |"}, reading.Tables, "Unit"},
	{"rows swapped", swaps{"| Size  | 10    | MB   |\n| Wait  | 30    | s    |\n", "| Wait  | 30    | s    |\n| Size  | 10    | MB   |\n"}, reading.Order, "Size"},
	{"heading", swaps{"## Exceptions", "## Rules"}, reading.Headings, "Rules"},
	{"level of a heading", swaps{"## Exceptions", "# Exceptions"}, reading.Headings, "# Exceptions"},
	{"order of a list", swaps{"1. Build the release.\n2. Run `make check`.\n", "1. Run `make check`.\n2. Build the release.\n"}, reading.Order, ""},
	{"item dropped", swaps{"- the operator signs\n", ""}, reading.Passages, "operator"},
	{"paragraph dropped", swaps{"Nobody releases on a Friday. The service is safe to restart, and at least 3 of 5 nodes stay up. Requests above 10 MB are refused unless the operator agrees.\n\n", ""}, reading.Passages, "Nobody"},
	{"name", swaps{"in Oslo", "in Bergen"}, reading.Names, "Bergen"},
	{"name of a person", swaps{"Alice Bergmann", "Bob Bergmann"}, reading.Names, "Bob"},
	{"known name for another", swaps{"But Oslo signs", "But Bergen signs"}, reading.Names, ""},
	{"citation", swaps{"measured [12]", "measured [13]"}, reading.Citations, "[13]"},
	{"citation's year", swaps{"al. (2020)", "al. (2021)"}, reading.Citations, "2021"},
	{"image", swaps{"(way.png)", "(away.png)"}, reading.Images, "away"},
	{"words of an image", swaps{"![the way of a release]", "![no way]"}, reading.Images, "no way"},
	{"comment", swaps{"Sign it", "<!-- the key is optional --> Sign it"}, reading.Markup, "optional"},
	{"comment as a definition", swaps{"## Exceptions", "[//]: # (never mind)\n\n## Exceptions"}, reading.Markup, "never mind"},
	{"struck out", swaps{"must pass every check", "~~must pass every check~~"}, reading.Markup, "~~"},
	{"line break", swaps{"on a Friday. The", "on a Friday.  \nThe"}, reading.Markup, "line break"},

	{"zero width", swaps{"release key", "rel\u200base key", "*release*", "*rel\u200bease*"}[2:], reading.Invisible, "zero-width space"},
	{"zero width by an entity", swaps{"*release*", "*rel&#x200b;ease*"}, reading.Invisible, "zero-width space"},
	{"bidi", swaps{"Sign it", "Sign \u202eit\u202c"}, reading.Invisible, "direction"},
	{"no-break space", swaps{"Sign it", "Sign\u00a0it"}, reading.Invisible, "no-break space"},
	{"soft hyphen", swaps{"the auditor", "the audi\u00adtor"}, reading.Invisible, "soft hyphen"},
	{"soft hyphen by name", swaps{"the auditor", "the audi&shy;tor"}, reading.Invisible, "soft hyphen"},
	{"homoglyph", swaps{"the operator signs", "the оperator signs"}, reading.Invisible, "other letters"},
	{"homoglyphs all over", swaps{"See [the guide]", "Ѕее [the guide]"}, reading.Invisible, "other letters"},
	{"tag characters", swaps{"the auditor", "the auditor\U000e0041\U000e0042"}, reading.Invisible, "without a shape"},
	{"white space at the end", swaps{"the owner signs\n", "the owner signs \n"}, reading.Invisible, "white space"},
	{"carriage return", swaps{"the owner signs\n", "the owner signs\rno\n"}, reading.Invisible, "carriage return"},
	{"line ends", swaps{"\n", "\r\n"}, reading.Invisible, "CRLF"},

	{"gap in letters apart", swaps{"Sign it", "[G A P: which key] Sign it"}, "", "mark_format"},
	{"gap in small letters", swaps{"Sign it", "[gap which key] Sign it"}, "", "mark_format"},
	{"gap in other brackets", swaps{"Sign it", "【GAP: which key】 Sign it"}, "", "mark_format"},
	{"gap in a comment", swaps{"Sign it", "<!-- gap which key --> Sign it"}, "", "mark_format"},
	{"gap with a zero width", swaps{"Sign it", "[G\u200bAP which key] Sign it"}, "", "mark_format"},
	{"gap in other letters", swaps{"Sign it", "[GАР which key] Sign it"}, "", "mark_format"},
	{"TBD", swaps{"Sign it", "Sign it (TBD)"}, "", "mark_format"},
	{"citation needed", swaps{"Sign it", "Sign it[citation needed]"}, "", "mark_format"},
	{"body deleted", swaps{load(nil, "policy.md")[strings.Index(load(nil, "policy.md"), "# Release"):], ""}, "", "nothing"},
	{"body of nothing that shows", swaps{load(nil, "policy.md")[strings.Index(load(nil, "policy.md"), "# Release"):], "\u200b\n<!-- x -->\n&nbsp;\n"}, "", "nothing"},
}

func TestSneaks(t *testing.T) {
	for _, s := range sneaks {
		t.Run(s.name, func(t *testing.T) {
			source := load(t, "policy.md")
			candidate := swapped(t, source, s.swaps...)
			switch s.name {
			case "line ends":
				candidate = strings.ReplaceAll(source, "\n", "\r\n")
			case "body deleted", "body of nothing that shows":
			default:
				candidate = swapped(t, candidate, "The limits are these", "These are the limits")
			}
			r := policyDesk(t, candidate).verify()
			if s.kind == "" {
				if r.Decision != Reject || !strings.Contains(r.Reason, s.why) {
					t.Errorf("got %s: %s", r.Decision, r.Reason)
				}
				return
			}
			found := false
			for _, n := range r.Direction.Notes {
				found = found || strings.Contains(n, string(s.kind)+": ") && strings.Contains(n, s.why)
			}
			if r.Decision == Accept || !found && s.name != "line ends" {
				t.Errorf("got %s: %s\nnotes %q", r.Decision, r.Reason, r.Direction.Notes)
			}
		})
	}
}
