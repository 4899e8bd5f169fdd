package providers

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/process"
)

// Endpoints are where models are asked, each with one client: the built-in ones
// and a cascade's own.
type endpoints struct {
	own     []model.Provider // as the cascade has them
	doors   *openai.Doors
	lacking map[string]error // own providers whose headers cannot be filled in
}

// Opened are the endpoints of the cascades of late, so that runs of one cascade have
// the same clients.
type opened struct {
	mu  sync.Mutex
	all []*endpoints
}

// maxOpened is for how many lists of providers clients are kept.
const maxOpened = 64

// Of is the set for a cascade that brings providers along: their models are asked
// there, with their headers filled in. Its scripts are those of the set.
func (s *Set) Of(list []model.Provider) *Set {
	if len(list) == 0 {
		return s
	}
	s.opened.mu.Lock()
	defer s.opened.mu.Unlock()
	i := slices.IndexFunc(s.opened.all, func(e *endpoints) bool { return reflect.DeepEqual(e.own, list) })
	if i < 0 {
		if len(s.opened.all) == maxOpened {
			s.opened.all = slices.Delete(s.opened.all, 0, 1)
		}
		i = len(s.opened.all)
		s.opened.all = append(s.opened.all, s.open(list))
	}
	return &Set{s.o, s.limits, s.answers, s.opened, s.opened.all[i]}
}

// Provide implements [model.Host] by [Set.Of].
func (s *Set) Provide(list []model.Provider) model.Model { return s.Of(list) }

func (s *Set) open(list []model.Provider) *endpoints {
	at := &endpoints{own: list, lacking: map[string]error{}}
	filled := slices.Clone(list)
	for i, p := range filled {
		filled[i].Headers = make(map[string]string, len(p.Headers))
		var lacks []string
		for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
			value, err := process.Expand(p.Headers[name])
			if err != nil {
				lacks = append(lacks, fmt.Sprintf("header %s: %v", name, err))
			}
			filled[i].Headers[name] = value
		}
		if len(lacks) > 0 {
			at.lacking[p.Name] = fmt.Errorf("provider %s: %s", p.Name, strings.Join(lacks, "; "))
		}
	}
	at.doors = openai.NewDoors(s.o.Getenv, s.o.client(s.limits), filled...)
	return at
}
