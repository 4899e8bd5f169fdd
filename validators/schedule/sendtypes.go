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

// A SendType is one of the 22 kinds of item.
type SendType struct {
	Key      string   `yaml:"key"`
	Category string   `yaml:"category"` // revenue, engagement or retention
	Page     string   `yaml:"page"`     // the only page type that may use it; "" for both
	PPV      bool     `yaml:"ppv"`      // its items are PPV slots
	Aliases  []string `yaml:"aliases"`
	index    int
}

// everySendType lists the send types in the order of the policy file.
func everySendType() []SendType {
	file, err := shelf()
	if err != nil {
		panic(err) // the embedded file is broken: no gate can judge
	}
	return file.SendTypes
}

// sendTypes are the send types by key and alias.
var sendTypes = sync.OnceValue(func() map[string]*SendType {
	byName := map[string]*SendType{}
	for i, t := range everySendType() {
		t.index = i
		byName[t.Key] = &t
		for _, alias := range t.Aliases {
			byName[alias] = &t
		}
	}
	return byName
})

// names are what captions of the type may be marked with.
func (t *SendType) names() []string { return append([]string{t.Key}, t.Aliases...) }

// allowed tells whether a page of that type may use the send type.
func (t *SendType) allowed(page string, p *Policy) bool {
	if t.Page == "" || t.Page == page {
		return true
	}
	return p.AllowFollowup && t.Key == "ppv_followup"
}

// ppvMessage tells whether a message of that type has a PPV price.
func (p *Policy) ppvMessage(kind string) bool {
	t := sendTypes()[kind]
	return p.ppvKinds[kind] || t != nil && t.PPV
}
