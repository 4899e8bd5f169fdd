package parallel

import (
	"maps"
	"reflect"
	"slices"
)

// A Merge collects the changes of several branches to one map.
type Merge struct {
	before, all map[string]any
	by          map[string]string // the branch that changed a key
}

// NewMerge returns a Merge of changes to the map before.
func NewMerge(before map[string]any) *Merge {
	return &Merge{before, maps.Clone(before), map[string]string{}}
}

// Add merges the map of one branch. It returns the first key that another
// branch has changed to a different value, or "".
func (m *Merge) Add(who string, own map[string]any) (clash string) {
	for _, key := range slices.Sorted(maps.Keys(own)) {
		was, there := m.before[key]
		if there && reflect.DeepEqual(was, own[key]) {
			continue
		}
		if _, written := m.by[key]; written && !reflect.DeepEqual(m.all[key], own[key]) {
			return key
		}
		m.all[key], m.by[key] = own[key], who
	}
	return ""
}

// Changed returns the keys whose values differ from before.
func Changed(before, now map[string]any) (keys []string) {
	for key, value := range now {
		if was, there := before[key]; !there || !reflect.DeepEqual(was, value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Changes returns the changed keys with their values.
func (m *Merge) Changes() map[string]any {
	news := map[string]any{}
	for key := range m.by {
		news[key] = m.all[key]
	}
	return news
}

// All returns the map with all changes.
func (m *Merge) All() map[string]any { return m.all }

// By returns the name of the branch that changed a key.
func (m *Merge) By(key string) string { return m.by[key] }
