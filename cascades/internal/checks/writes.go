package checks

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/templates"
)

// A Call is the call of a tool by a phase without a model.
type Call struct {
	Node    *yaml.Node
	Tool    string
	Writes  bool // the tool writes, and neither a receipt nor an enforcing pre-ward checks the call
	Repeats bool // a retry repeats it with the same arguments
}

// A Text describes the origin of the text of a phase, and its use.
type Text struct {
	Model      bool             // a model writes the text
	Composes   bool             // the phase composes the text
	Copies     bool             // the phase composes the text, or puts a value into the state
	Group      bool             // the phase is a group, which has no text
	Each       bool             // the phase runs once for every item
	Reads      []templates.Name // variables that the phase passes on
	Judges     []templates.Name // inputs of a phase that is a validator
	Extracted  string           // key of the state for a part of the text; "" for none
	Set        string           // key that set_state sets; "" for none
	Judged     bool             // an enforcing check judges the text
	PartJudged bool             // an enforcing check judges the extracted part
}

// writes warns about phases whose tool writes the text of a model that no check has judged.
func writes(c *Cascade, r *findings.Report) {
	var s *sources
	for i, p := range c.Phases {
		if p.Call == nil || !p.Call.Writes {
			continue
		}
		if s == nil {
			s = newSources(c.Phases)
		}
		for _, from := range s.unjudged(i) {
			r.Warn(p.Call.Node, codes.Ungated,
				"tool %s writes, and takes what phase %s says: no blocking pre-ward of phase %s looks at it, nor a blocking or retrying check of phase %s",
				p.Call.Tool, from, p.Name, from)
		}
	}
}

// sources contains the texts that phases can read.
type sources struct {
	phases []Phase
	by     map[string][]source // by name, such as "outputs/draft" or "state/title"; "outputs" and "state" have all texts
	gated  map[string]bool     // inputs of phases that are gates
	steps  int
}

const maxSteps = 1 << 20

// A source is the text of a phase or the extracted part of the text.
type source struct {
	phase int
	part  bool
}

func newSources(phases []Phase) *sources {
	s := &sources{phases: phases, by: map[string][]source{}, gated: map[string]bool{}}
	for _, p := range phases {
		for _, n := range p.Text.Judges {
			s.gated[strings.Join(n.Path[:min(len(n.Path), 2)], "/")] = true
		}
	}
	for i, p := range phases {
		s.add(i)
		if p.Group != "" {
			group := "outputs/" + p.Group
			s.by[group] = append(s.by[group], source{phase: i})
			s.by[group+"/"+p.Name] = []source{{phase: i}}
		}
	}
	return s
}

// add records the names of the text of a phase.
func (s *sources) add(i int) {
	p := s.phases[i]
	if p.Text.Group {
		return
	}
	s.put("outputs", p.Name, source{phase: i})
	if p.Text.Each { // an item has its own state
		return
	}
	if p.Text.Extracted != "" {
		s.put("state", p.Text.Extracted, source{i, true})
	}
	if p.Text.Set != "" {
		s.put("state", p.Text.Set, source{phase: i})
	}
}

// put adds a text under a name, unless a gate checks the text with this name.
func (s *sources) put(where, name string, one source) {
	if s.gated[where+"/"+name] && (where == "state" || s.phases[one.phase].Text.Composes) {
		return
	}
	s.by[where] = append(s.by[where], one)
	s.by[where+"/"+name] = append(s.by[where+"/"+name], one)
}

// unjudged returns phases with a model whose text the given phase passes on. It omits the
// texts that a check has judged.
func (s *sources) unjudged(phase int) (names []string) {
	seen := map[source]bool{}
	for todo := []int{phase}; len(todo) > 0 && s.steps < maxSteps; todo = todo[1:] {
		for _, from := range s.read(todo[0]) {
			text := s.phases[from.phase].Text
			switch {
			case seen[from], text.PartJudged, text.Judged && !from.part:
			case text.Copies:
				todo = append(todo, from.phase)
			case text.Model && !slices.Contains(names, s.phases[from.phase].Name):
				names = append(names, s.phases[from.phase].Name)
			}
			seen[from] = true
		}
	}
	return names
}

// read returns the texts that a phase reads. If the phase reads a whole object, such as
// outputs, the result includes all earlier texts in the object.
func (s *sources) read(phase int) (list []source) {
	reads := s.phases[phase].Text.Reads
	for _, n := range reads {
		list = append(list, s.find(n.Path, phase)...)
	}
	s.steps += len(reads) + len(list)
	return list
}

func (s *sources) find(path []string, phase int) []source {
	all := path[0]
	if all == "lineage" {
		all, path = "outputs", path[:1]
	}
	if len(path) == 1 {
		return slices.DeleteFunc(slices.Clone(s.by[all]), func(one source) bool { return one.phase >= phase })
	}
	for long := min(len(path), 3); long > 1; long-- {
		if list := s.by[strings.Join(path[:long], "/")]; list != nil {
			return list
		}
	}
	return nil
}
