package schedule

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators"
)

//go:embed policy.yaml
var policyText []byte

// A gatePolicy is the thresholds of the gates and the consequence of each rule. It
// never changes after it is loaded.
type gatePolicy struct {
	Extends            string                `yaml:"extends"`
	Gates              []string              `yaml:"gates"` // the active gates; the others pass everything
	AllowFollowup      bool                  `yaml:"allow_ppv_followup_on_free"`
	PPVMessageTypes    []string              `yaml:"ppv_message_types"`
	Limits             policyLimits          `yaml:"limits"`
	Rules              map[string]policyRule `yaml:"rules"`
	ppvKinds, allGates map[string]bool
	digest             string
}

// A policyRule is the consequence of breaking a rule: a row of the rejection
// tables.
type policyRule struct {
	Code     string `yaml:"code"`
	Phase    string `yaml:"phase"`
	Severity string `yaml:"severity"`  // CRITICAL, HIGH, MODERATE, LOW or NONE
	Status   string `yaml:"status"`    // BLOCKED, REJECTED, REVISE, NEEDS_REVIEW, WARNING or INFO
	ReturnTo string `yaml:"return_to"` // the phase to return to; empty if the tables name none
	When     string `yaml:"when"`      // the condition in words; {name} stands for a limit
	Apart    bool   `yaml:"apart"`     // does not reduce the quality score as a finding
}

// policyLimits are the thresholds by their names in the policy file.
type policyLimits struct {
	MaxItems              int     `yaml:"max_items"`
	MinCaptions           int     `yaml:"min_captions"`
	MinTypesHard          int     `yaml:"min_types_hard"`
	MinTypes              int     `yaml:"min_types"`
	MinRevenueTypes       int     `yaml:"min_revenue_types"`
	MinEngagementTypes    int     `yaml:"min_engagement_types"`
	MinRetentionTypes     int     `yaml:"min_retention_types"`
	MinStrategies         int     `yaml:"min_strategies"`
	MinFreshness          float64 `yaml:"min_freshness"`
	MinFreshnessLimited   float64 `yaml:"min_freshness_limited"`
	MinPerformance        float64 `yaml:"min_performance"`
	MinPerformanceLimited float64 `yaml:"min_performance_limited"`
	ConfidenceHigh        float64 `yaml:"confidence_high"`
	ConfidenceModerate    float64 `yaml:"confidence_moderate"`
	ConfidenceLow         float64 `yaml:"confidence_low"`
	DeductCritical        int     `yaml:"deduct_critical"`
	DeductOther           int     `yaml:"deduct_other"`
	DeductLow             int     `yaml:"deduct_low_confidence"`
	DeductVeryLow         int     `yaml:"deduct_very_low_confidence"`
	DeductStrategies      int     `yaml:"deduct_strategies"`
	ApproveScore          int     `yaml:"approve_score"`
	ReviewScore           int     `yaml:"review_score"`
	MaxTypeShare          float64 `yaml:"max_type_share"`
	MaxContentShare       float64 `yaml:"max_content_share"`
	MinVariety            float64 `yaml:"min_variety"`
	WeightTypes           float64 `yaml:"weight_types"`
	WeightTypeShare       float64 `yaml:"weight_type_share"`
	WeightContentShare    float64 `yaml:"weight_content_share"`
	MaxAggressiveness     float64 `yaml:"max_aggressiveness"`
	MinHealth             float64 `yaml:"min_health"`
	MinBrand              float64 `yaml:"min_brand"`
	MajorConcerns         int     `yaml:"major_concerns"`
	MinStrategic          float64 `yaml:"min_strategic"`
	PriceSigmas           float64 `yaml:"price_sigmas"`
	PriceSamples          int     `yaml:"price_samples"`
	PriceDays             int     `yaml:"price_days"`
	MaxVolumeRatio        float64 `yaml:"max_volume_ratio"`
	ClusterItems          int     `yaml:"cluster_items"`
	ClusterMinutes        int     `yaml:"cluster_minutes"`
	MaxDayRevenue         float64 `yaml:"max_day_revenue"`
	MinAverageFreshness   float64 `yaml:"min_average_freshness"`
	FewSlots              int     `yaml:"few_slots"`
	PeakHours             int     `yaml:"peak_hours"`
	MaxAge                int     `yaml:"max_age"`
	MaxAhead              int     `yaml:"max_ahead"`
}

type policyFile struct {
	Default   string               `yaml:"default"`
	SendTypes []sendType           `yaml:"send_types"`
	Profiles  map[string]yaml.Node `yaml:"profiles"`
}

var shippedPolicies = sync.OnceValues(func() (policyFile, error) {
	var f policyFile
	err := validators.ReadPolicy(policyText, &f)
	return f, err
})

var profiles sync.Map // *gatePolicy by name

// loadPolicy returns the profile with a name ("v3", "v2"; default: v3), or
// parses a policy in YAML. Missing values come from the profile that it
// extends, by default v3. A rule in the YAML must be complete.
func loadPolicy(text string) (*gatePolicy, error) {
	file, err := shippedPolicies()
	if err != nil {
		return nil, fmt.Errorf("shipped policy: %w", err)
	}
	name := cmp.Or(strings.TrimSpace(text), file.Default)
	if _, ok := file.Profiles[name]; ok {
		return file.profile(name, 0)
	}
	if !strings.ContainsAny(name, ":\n") {
		return nil, fmt.Errorf("policy %q is neither a profile (%s) nor YAML", clip(name), strings.Join(slices.Sorted(maps.Keys(file.Profiles)), ", "))
	}
	return file.extend([]byte(text), file.Default, 0)
}

func (f policyFile) profile(name string, depth int) (*gatePolicy, error) {
	if p, ok := profiles.Load(name); ok {
		return p.(*gatePolicy), nil
	}
	node, ok := f.Profiles[name]
	if !ok || depth > len(f.Profiles) {
		return nil, fmt.Errorf("policy: extends %q, which is no profile", clip(name))
	}
	text, err := yaml.Marshal(&node)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	p, err := f.extend(text, "", depth)
	if err == nil {
		profiles.Store(name, p)
	}
	return p, err
}

// extend returns the policy of a YAML text over the profile that it extends.
func (f policyFile) extend(text []byte, base string, depth int) (*gatePolicy, error) {
	var top gatePolicy
	if err := validators.ReadPolicy(text, &top); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	p := &gatePolicy{}
	if base = cmp.Or(top.Extends, base); base != "" {
		below, err := f.profile(base, depth+1)
		if err != nil {
			return nil, err
		}
		*p = *below // lists are shared but never modified: the text creates new ones
		p.Rules = maps.Clone(below.Rules)
	}
	if err := validators.ReadPolicy(text, p); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return p, p.prepare()
}

var (
	severities = []string{"CRITICAL", "HIGH", "MODERATE", "LOW", "NONE"}
	statuses   = []string{statusBlocked, statusRejected, statusRevise, statusNeedsReview, statusWarning, statusInfo}
)

// prepare checks the policy, so that no misspelling makes it pass everything.
func (p *gatePolicy) prepare() error {
	p.allGates, p.ppvKinds = map[string]bool{}, map[string]bool{}
	for _, g := range p.Gates {
		if !slices.Contains(gateNames, g) {
			return fmt.Errorf("policy: no gate is called %q", clip(g))
		}
		p.allGates[g] = true
	}
	for _, kind := range p.PPVMessageTypes {
		p.ppvKinds[kind] = true
	}
	for _, name := range ruleNames {
		r, ok := p.Rules[name]
		switch {
		case !ok || r.Code == "":
			return fmt.Errorf("policy: rule %s has no code", name)
		case !slices.Contains(severities, r.Severity):
			return fmt.Errorf("policy: rule %s: severity %q is not one of %s", name, clip(r.Severity), strings.Join(severities, ", "))
		case !slices.Contains(statuses, r.Status):
			return fmt.Errorf("policy: rule %s: status %q is not one of %s", name, clip(r.Status), strings.Join(statuses, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Rules)) {
		if !slices.Contains(ruleNames, name) {
			return fmt.Errorf("policy: no rule is called %q", clip(name))
		}
	}
	if err := p.checkLimits(); err != nil {
		return err
	}
	var err error
	p.digest, err = p.decisionDigest()
	return err
}

// decisionDigest returns the digest of everything that affects decisions. Names
// and words are left out.
func (p *gatePolicy) decisionDigest() (string, error) {
	rules := map[string]any{}
	for name, r := range p.Rules {
		rules[name] = map[string]any{"code": r.Code, "phase": r.Phase, "severity": r.Severity, "status": r.Status, "return_to": r.ReturnTo, "apart": r.Apart}
	}
	limits := map[string]any{}
	for name, value := range p.Limits.byName() {
		limits[name] = value
	}
	types := map[string]any{}
	for _, s := range everySendType() {
		types[s.Key] = map[string]any{"category": s.Category, "page": s.Page, "ppv": s.PPV, "aliases": plainTexts(set(s.Aliases))}
	}
	text, err := signatures.Canonical(map[string]any{
		"gates": plainTexts(set(p.Gates)), "allow_ppv_followup_on_free": p.AllowFollowup, "ppv_message_types": plainTexts(set(p.PPVMessageTypes)),
		"limits": limits, "rules": rules, "send_types": types,
	})
	if err != nil {
		return "", fmt.Errorf("policy: %w", err)
	}
	return signatures.Digest(text), nil
}

func (p *gatePolicy) checkLimits() error {
	limits := p.Limits.byName()
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		switch value := limits[name]; {
		case math.IsNaN(value) || math.IsInf(value, 0) || value < 0:
			return fmt.Errorf("policy: limit %s must be a number that is not negative", name)
		case strings.HasSuffix(name, "_share") && strings.HasPrefix(name, "max_") && (value <= 0 || value > 1):
			return fmt.Errorf("policy: limit %s is a fraction: above 0, at most 1", name)
		}
	}
	if l := p.Limits; l.ClusterItems < 2 || l.PriceSamples < 2 || l.MaxItems < 1 || l.ReviewScore > l.ApproveScore {
		return errors.New("policy: cluster_items and price_samples must be at least 2, max_items at least 1, review_score at most approve_score")
	}
	return nil
}

// byName returns the limits by their names in the policy file.
func (l policyLimits) byName() map[string]float64 {
	text, err := yaml.Marshal(l)
	byName := map[string]float64{}
	if err == nil {
		err = yaml.Unmarshal(text, &byName)
	}
	if err != nil {
		panic(fmt.Sprintf("limits: %v", err)) // impossible for a struct of numbers
	}
	return byName
}

// hasGate reports whether the policy has a gate.
func (p *gatePolicy) hasGate(gate string) bool { return p.allGates[gate] }

// clip shortens an untrusted text for a message.
func clip(text string) string { return clips.Bytes(text, 60) }
