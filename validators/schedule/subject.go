// Package schedule contains the gates of a weekly sending schedule: four layers of checks between
// a model's proposal and the saved schedule.
//
//	gates := schedule.Validators(schedule.Options{DSN: "schedule.db", SigningKey: key})
//	tools := schedule.Tools(schedule.Options{DSN: "schedule.db", VerifyKey: public})
//
// Layer 1 is the tools that read captions (tools.go). They return only content that is in the
// creator's vault and not in the AVOID tier. Layers 2 to 4 and the other gates are the validators
// of [Validators] (gates.go). preflight.go checks the creator before anything is planned.
// hard.go, rules.go, variety.go and quality.go check the items. anomaly.go and critic.go check
// the whole schedule. certificate.go and gatekeeper.go check its certificate, and proof.go the
// proof of tool calls. save.go saves a passed schedule in one transaction.
//
// A schedule arrives as JSON and becomes a plan (subject.go). Each gate collects findings by the
// rules of the policy (report.go, policy.go). The policy defines the consequence of each rule, so
// operators can change it without code. The output is a verdict with all findings.
//
// Facts about a creator always come from the database (database.go, facts.go). The schedule
// cannot change them. An error of the database is not a verdict, so nothing passes on it. No gate
// asks a model: a critic's review is input, and the gate decides by its scores.
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

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators"
)

// A plan is a schedule whose types and ranges have been checked.
type plan struct {
	creator       string
	pageType      string // as claimed by the subject; the database decides
	week          int    // the first day; noDay if the subject has none
	items         []item
	strategies    []string // unique
	hasStrategies bool
	proof         any
	certificate   any
	decision      any  // the critic's statement
	sound         bool // everything could be read
	expected      volumes
	confidence    float64 // from 0 to 1; NaN if missing or invalid
	hasConfidence bool
	limited       bool // the subject claims a limited caption pool
}

// A need is a set of fields that a gate requires.
type need uint8

const (
	needSendTypes need = 1 << iota
	needTimes
	needWeek
)

// maxContent is the maximum length of a subject that is still a text, in bytes.
const maxContent = 64 << 20

// object returns the subject as an object: its output, or the one JSON document
// in its content. The content must not be ambiguous, because the output has
// already lost repeated keys.
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

// unwrapSchedule returns the schedule in {"schedule": …}, also if nested. Other
// members of the outer object, such as a proof or a certificate, become its
// own.
func unwrapSchedule(m map[string]any) map[string]any {
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

// A scheduleReader reads a subject and adds findings to the report.
type scheduleReader struct {
	*report
	rule  string // the rule for an invalid field
	needs need
	kinds map[string]*sendType

	lastDate     string
	lastDay      int
	invalidItems bool // an item is not an object
}

func (in *scheduleReader) wrong(at, message string) {
	in.add(in.rule, finding{at: at, message: message})
}

// read returns the plan of a subject. A value of the wrong type is a finding
// and counts as missing.
func (r *report) read(m map[string]any, needs need) *plan {
	in := &scheduleReader{report: r, rule: inputRule, needs: needs, kinds: sendTypes()}
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

func (in *scheduleReader) creator(m map[string]any) string {
	id := in.field(m, "creator_id")
	if id == "" && !in.has(inputRule) {
		in.wrong("creator_id", "is missing")
	}
	return id
}

// field returns a text at the top level of the subject.
func (in *scheduleReader) field(m map[string]any, name string) string {
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

// strategies parses both forms of strategy_metadata, {date: {strategy_used:
// name}} and {daily_strategies: {date: name}}. It returns the normalized names
// of the strategies on days of the week.
func (in *scheduleReader) strategies(v any, week int) ([]string, bool) {
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

// strategyName normalizes a name, so that names with the same appearance are equal.
func strategyName(text string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // invisible
			return -1
		}
		return r
	}, norm.NFKC.String(text))
	return strings.ToLower(strings.Join(strings.Fields(seen), " "))
}

// unwrap returns the value in an object whose only member has this name.
func unwrap(v any, name string) any {
	if m, ok := v.(map[string]any); ok && len(m) == 1 && m[name] != nil {
		return m[name]
	}
	return v
}

// volumes are the expected numbers of items per day.
type volumes struct {
	days  [7]float64 // by time.Weekday; NaN without an expectation
	dates map[int]float64
}

func (v volumes) of(day int) float64 {
	if n, ok := v.dates[day]; ok {
		return n
	}
	return v.days[weekday(day)]
}

func (in *scheduleReader) volume(m map[string]any, p *plan) {
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

func (in *scheduleReader) confidence(m, config map[string]any) (score float64, given bool) {
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

// expect records a day's expected items. A date overrides its day of the week.
func (in *scheduleReader) expect(key string, v any, p *plan) {
	const at = "volume_config.weekly_distribution"
	n, ok := number(v)
	if !ok || n < 0 {
		in.wrong(at+"."+reports.Fit(key, 60), "must be a number that is not negative, not "+show(v))
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

// dayNamed parses a day of the week: a name (monday, Mon), or a number from 0,
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
