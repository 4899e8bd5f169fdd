// Package schedule holds the gates of a weekly sending schedule: four layers of
// defence between what a model proposes and what is saved.
//
// Layer 1 are the tools that read captions (tools.go): they give only what the
// creator's vault holds and what is not in the AVOID tier. Layers 2 to 4 and the gates
// around them are the validators of [Validators] (gates.go): preflight.go before
// anything is made; hard.go, rules.go, variety.go and quality.go of the items;
// anomaly.go and critic.go of the whole; certificate.go and gatekeeper.go of what is
// stated of it; proof.go of the calls that are said to have been made. save.go lets in
// what has passed, all of it in one transaction or nothing.
//
// A schedule comes in as JSON, with what a cascade binds to the gate, and is read once
// into a subject (subject.go). Each gate collects findings by the codes of the policy
// (report.go, policy.go), which says what breaking a rule means: a row, which an
// operator may change, and no branch of the code. A verdict goes out with all of them.
//
// What is true of a creator is read from the database, never from the schedule that is
// judged (database.go, facts.go). An error from the database is no verdict: nothing
// passes on it. No gate asks a model: what a critic said of a schedule comes in as
// data, and the gate decides by its scores.
//
// Begin with gates.go and hard.go.
package schedule

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A plan is a schedule as it is judged: what the subject says, checked for
// types and ranges.
type plan struct {
	creator       string
	pageType      string // what the subject claims; the database decides
	week          int    // the first day; noDay where the subject does not say
	items         []item
	strategies    []string // unique
	hasStrategies bool
	proof         any
	certificate   any
	decision      any  // the critic's statement
	sound         bool // all of it could be read
	expected      volumes
	confidence    float64 // NaN where it is not said, or no number from 0 to 1
	hasConfidence bool
	limited       bool // the caption pool is said to be limited
}

// need is what a gate cannot do without.
type need uint8

const (
	needSendTypes need = 1 << iota
	needTimes
	needWeek
)

// maxContent bounds, in bytes, a subject that is still a text.
const maxContent = 64 << 20

// object returns the subject as an object: its output, or the one JSON document in
// its content. The content must not contradict the output, because the output has
// lost what the content has twice.
func object(s validators.Subject) (map[string]any, error) {
	if len(s.Content) > maxContent {
		return nil, fmt.Errorf("the schedule has %d bytes, more than %d", len(s.Content), maxContent)
	}
	found, _, err := schema.Extract(nil, s.Content, nil)
	if err != nil && (s.Output == nil || !errors.Is(err, schema.ErrNoJSON)) {
		return nil, err
	}
	if err := signatures.Unambiguous(found); err != nil {
		return nil, err
	}
	v := s.Output
	if v == nil {
		v = found
	}
	m, ok := v.(map[string]any)
	if !ok {
		plain, err := schema.Plain(v)
		if err != nil {
			return nil, err
		}
		if m, ok = plain.(map[string]any); !ok {
			return nil, errors.New("the schedule must be a JSON object")
		}
	}
	return m, nil
}

// opened takes a schedule out of {"schedule": …}, once and again; what stands
// beside it there, a proof or a certificate, counts as its own.
func opened(m map[string]any) map[string]any {
	for range 8 {
		inner, ok := m["schedule"].(map[string]any)
		if !ok || m["items"] != nil {
			break
		}
		whole := maps.Clone(inner)
		for name, value := range m {
			if name != "schedule" {
				whole[name] = value
			}
		}
		m = whole
	}
	return m
}

// An intake reads a subject; what is wrong with it goes into the report.
type intake struct {
	*report
	rule  string // what a wrong field breaks
	needs need
	kinds map[string]*SendType

	lastDate string
	lastDay  int
	strange  bool // an item is no object
}

func (in *intake) wrong(at, message string) {
	in.add(in.rule, finding{at: at, message: message})
}

// read makes a plan of a subject. What has the wrong type is a finding, and
// counts as not said.
func (r *report) read(m map[string]any, needs need) *plan {
	in := &intake{report: r, rule: inputRule, needs: needs, kinds: sendTypes()}
	p := &plan{
		week: noDay, proof: unwrap(m["validation_proof"], "validation_proof"),
		certificate: unwrap(m["validation_certificate"], "validation_certificate"), decision: unwrap(m["critic_certificate"], "critic_certificate"),
	}
	p.creator = in.creator(m)
	p.pageType = in.field(m, "page_type")
	if week := in.field(m, "week_start"); week != "" {
		var ok bool
		if p.week, ok = in.day(week); !ok {
			p.week = noDay
			in.wrong("week_start", "must be a date like 2025-12-22, not "+show(week))
		}
	} else if needs&needWeek != 0 && (m["week_start"] == nil || m["week_start"] == "") {
		in.wrong("week_start", "is missing")
	}
	if inner := m["schedule"]; inner != nil && m["items"] == nil {
		in.wrong("schedule", "must be an object, not "+show(inner))
	}
	p.items = in.items(m["items"])
	p.strategies, p.hasStrategies = in.strategies(m["strategy_metadata"], p.week)
	in.volume(m, p)
	p.limited = m["caption_pool_limited"] == true
	p.sound = !r.has(inputRule, sendTypeRule)
	return p
}

func (in *intake) creator(m map[string]any) string {
	id := in.field(m, "creator_id")
	if id == "" && !in.has(inputRule) {
		in.wrong("creator_id", "is missing")
	}
	return id
}

// field is a text of the subject's top level.
func (in *intake) field(m map[string]any, name string) string {
	v := m[name]
	s, ok := v.(string)
	if !ok && v != nil {
		in.wrong(name, "must be a text, not "+show(v))
	}
	if !storable(s) {
		in.wrong(name, "holds bytes that are no text")
		return ""
	}
	return s
}

// strategies reads both shapes of strategy_metadata,
// {date: {strategy_used: name}} and {daily_strategies: {date: name}}: those of the
// days of the week, each by its name in one spelling.
func (in *intake) strategies(v any, week int) ([]string, bool) {
	if v == nil {
		return nil, false
	}
	m, ok := v.(map[string]any)
	if !ok {
		in.wrong("strategy_metadata", "must be an object, not "+show(v))
		return nil, true
	}
	daily, flat := m["daily_strategies"].(map[string]any)
	if flat {
		m = daily
	}
	var names []string
	for date, used := range m {
		if day, ok := in.day(date); !ok || week != noDay && !inWeek(day, week) {
			continue
		}
		if object, ok := used.(map[string]any); ok {
			used = object["strategy_used"]
		} else if !flat {
			continue
		}
		text, _ := used.(string)
		if name := strategyName(text); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), len(m) > 0
}

// strategyName is a name as it is counted: two that look the same are one.
func strategyName(text string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // shows nothing
			return -1
		}
		return r
	}, norm.NFKC.String(text))
	return strings.ToLower(strings.Join(strings.Fields(seen), " "))
}

// unwrap takes a value out of an object that holds it under its own name and
// nothing else.
func unwrap(v any, name string) any {
	if m, ok := v.(map[string]any); ok && len(m) == 1 && m[name] != nil {
		return m[name]
	}
	return v
}

// volumes is how many items each day is expected to have.
type volumes struct {
	days  [7]float64 // by time.Weekday; NaN where nothing is expected
	dates map[int]float64
}

func (v volumes) of(day int) float64 {
	if n, ok := v.dates[day]; ok {
		return n
	}
	return v.days[weekday(day)]
}

func (in *intake) volume(m map[string]any, p *plan) {
	p.expected = noVolumes()
	config, ok := m["volume_config"].(map[string]any)
	if !ok && m["volume_config"] != nil {
		in.wrong("volume_config", "must be an object, not "+show(m["volume_config"]))
	}
	p.confidence, p.hasConfidence = in.confidence(m, config)
	switch daily := config["weekly_distribution"].(type) {
	case nil:
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(daily)) {
			in.expect(key, daily[key], p)
		}
	case []any:
		for i, v := range daily {
			in.expect(strconv.Itoa(i), v, p)
		}
	default:
		in.wrong("volume_config.weekly_distribution", "must be an object or a list, not "+show(daily))
	}
}

func (in *intake) confidence(m, config map[string]any) (score float64, said bool) {
	v := m["confidence_score"]
	if v == nil {
		v = config["confidence_score"]
	}
	if v == nil {
		return math.NaN(), false
	}
	f, ok := number(v)
	if !ok || f < 0 || f > 1 {
		in.wrong("confidence_score", "must be a number from 0 to 1, not "+show(v))
		return math.NaN(), true
	}
	return f, true
}

// expect notes a day's expected items. A date counts before its day of the week.
func (in *intake) expect(key string, v any, p *plan) {
	const at = "volume_config.weekly_distribution"
	n, ok := number(v)
	if !ok || n < 0 {
		in.wrong(at+"."+validators.OneLine(key, 60), "must be a number that is not negative, not "+show(v))
		return
	}
	if day, ok := in.day(key); ok {
		p.expected.dates[day] = n
		return
	}
	switch d, ok := dayNamed(key); {
	case !ok:
		in.wrong(at, strconv.Quote(clip(key))+" is neither a date nor a day of the week")
	case !math.IsNaN(p.expected.days[d]):
		in.wrong(at, strconv.Quote(clip(key))+" is a day that another key says too")
	default:
		p.expected.days[d] = n
	}
}

// dayNamed reads a day of the week: by name (monday, Mon), or by number from 0,
// which is Monday.
func dayNamed(key string) (time.Weekday, bool) {
	if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < 7 {
		return time.Weekday((i + 1) % 7), true
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := d.String(); strings.EqualFold(key, name) || strings.EqualFold(key, name[:3]) {
			return d, true
		}
	}
	return 0, false
}
