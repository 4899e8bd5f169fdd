package schedule

import "sync"

// Categories of send types.
const (
	revenue    = "revenue"
	engagement = "engagement"
	retention  = "retention"
)

// Page types of creators.
const (
	paidPage = "paid"
	freePage = "free"
)

// A sendType is one of the 22 kinds of item.
type sendType struct {
	Key      string   `yaml:"key"`
	Category string   `yaml:"category"` // revenue, engagement or retention
	Page     string   `yaml:"page"`     // the only page type that may use it; empty: both
	PPV      bool     `yaml:"ppv"`      // its items are PPV slots
	Aliases  []string `yaml:"aliases"`
	index    int
}

// everySendType returns the send types in the order of the policy file.
func everySendType() []sendType {
	file, err := shippedPolicies()
	if err != nil {
		panic(err) // the embedded file is broken, so no gate can decide
	}
	return file.SendTypes
}

// sendTypes returns the send types by key and alias.
var sendTypes = sync.OnceValue(func() map[string]*sendType {
	byName := map[string]*sendType{}
	for i, t := range everySendType() {
		t.index = i
		byName[t.Key] = &t
		for _, alias := range t.Aliases {
			byName[alias] = &t
		}
	}
	return byName
})

// names returns the caption types for the send type.
func (t *sendType) names() []string { return append([]string{t.Key}, t.Aliases...) }

// allowed reports whether a page of this type may use the send type.
func (t *sendType) allowed(page string, p *gatePolicy) bool {
	if t.Page == "" || t.Page == page {
		return true
	}
	return p.AllowFollowup && t.Key == "ppv_followup"
}

// ppvMessage reports whether a message of this type has a PPV price.
func (p *gatePolicy) ppvMessage(kind string) bool {
	t := sendTypes()[kind]
	return p.ppvKinds[kind] || t != nil && t.PPV
}
