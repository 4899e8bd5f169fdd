package shared

import (
	"maps"
	"reflect"
	"slices"
)

// A Merge is what several have made of one map.
type Merge struct {
	before, all map[string]any
	by          map[string]string // who has written a key
}

// NewMerge begins with a map as it was before.
func NewMerge(before map[string]any) *Merge {
	return &Merge{before, maps.Clone(before), map[string]string{}}
}

// Add takes over what one has written, and gives the first key that another has
// written differently.
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

// Written are the keys that stand otherwise than before.
func Written(before, now map[string]any) (keys []string) {
	for key, value := range now {
		if was, there := before[key]; !there || !reflect.DeepEqual(was, value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// News are the keys that were written.
func (m *Merge) News() map[string]any {
	news := map[string]any{}
	for key := range m.by {
		news[key] = m.all[key]
	}
	return news
}

// All is the map with what all have written.
func (m *Merge) All() map[string]any { return m.all }

// By names who has written a key.
func (m *Merge) By(key string) string { return m.by[key] }
