package edit

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// A judgement is what a person or a model found. What it does not say was not
// judged: a zero result or change, a nil flag.
type judgement struct {
	opinion
	claims  []judged
	intent  graded
	bridge  bool // a gap is bridged in silence
	defects []string
	changes []judged
}

// An opinion is what only a reader can say of a candidate.
type opinion struct {
	presentation graded
	aspects      map[string]Result // voice, register, avoid, preserve
	primary      Change
	secondary    []changed
	nonGoals     graded
	gap          graded
	direction    graded
	constraints  []judged
	conflicts    bool // the direction asks for what the status forbids
	adds, hides  *bool
	met          *bool // a status part: what was wrong with it is mended
	followup     *bool
	why          string // of the follow-up
}

type judged struct {
	key string
	graded
}

type changed struct {
	key    string
	change Change
}

// judgement reads a judgement. Keys that it does not know are left alone.
func (r *reader) judgement(root *yaml.Node) *judgement {
	f := r.top(root, "a judgement", "judgement")
	if f == nil {
		return nil
	}
	j := &judgement{
		opinion: opinion{
			adds: f.flag("adds_requirement"), hides: f.flag("hides_derivation"), met: f.flag("part_goal_met"),
			conflicts: is(f.flag("direction_conflicts_status")),
			followup:  f.flag("requires_followup_text_candidate"), why: clean(f.text("followup_reason")),
		},
		claims: f.judgedList("claims"), changes: f.judgedList("changes"),
		bridge: is(f.flag("hides_bridge")), defects: f.texts("status_defects"),
	}
	if n := f.get("primary_goal"); n != nil {
		j.primary = f.change(n, "primary_goal")
	}
	if s := f.child("secondary_goals"); s != nil {
		for _, key := range s.order {
			if n := s.get(key); n != nil {
				j.secondary = append(j.secondary, changed{key, s.change(n, "secondary goal "+key)})
			}
		}
	}
	j.nonGoals, j.gap = f.section("non_goals"), f.section("gap_policy")
	j.readPresentation(f)
	j.readDirection(f)
	return j
}

func is(b *bool) bool { return b != nil && *b }

func (j *judgement) readPresentation(f *fields) {
	j.aspects = map[string]Result{}
	n := f.first("presentation", "presentation_spec")
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		j.presentation = f.grade(n, "presentation")
		return
	}
	own := f.mapping(n, "presentation")
	j.presentation.notes = own.notes()
	for _, a := range aspects {
		name := a.name
		if own.get(a.long) != nil {
			name = a.long
		}
		g := own.section(name)
		j.aspects[a.name] = g.result
		j.presentation.remark(a.name, g)
	}
	if at := own.get("result"); at != nil {
		j.presentation.result = word(f.reader, at, "result of presentation", results...)
	}
}

// aspects are what is looked at of the presentation, and what else a judgement
// may call it.
var aspects = []struct{ name, long string }{
	{"voice", "voice"}, {"register", "register"}, {"avoid", "avoid_items"}, {"preserve", "preserve_items"},
}

func (j *judgement) readDirection(f *fields) {
	n := f.get("direction")
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		j.direction = f.grade(n, "direction")
		return
	}
	own := f.mapping(n, "direction")
	j.direction.notes = own.notes()
	if at := own.get("result"); at != nil {
		j.direction.result = word(f.reader, at, "result of direction", results...)
	}
	if at := own.get("intent"); at != nil {
		j.intent = own.grade(at, "intent")
	}
	switch at := own.get("constraints"); {
	case at != nil && at.Kind == yaml.ScalarNode:
		j.constraints = []judged{{every, own.grade(at, "constraints")}}
	case at != nil && at.Kind == yaml.SequenceNode && len(at.Content) > 0 && at.Content[0].Kind == yaml.ScalarNode:
		for i, e := range at.Content {
			j.constraints = append(j.constraints, judged{fmt.Sprintf("K%d", i+1), own.grade(e, "constraints")})
		}
	default:
		j.constraints = own.judgedList("constraints")
	}
}

// every is the key of a result that holds for all constraints.
const every = "*"
