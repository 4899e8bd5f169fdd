package capy

// Needs that are neither a value nor a mention of the policy.
const (
	needScenarios  = "scenarios"
	needNarratives = "narratives"
)

// A gap is something that a stage's row asks for and the text does not hold.
type gap struct {
	at      place
	message string
}

// A finder is a reader that looks for one of the things a row asks for.
type finder interface {
	reader
	gaps(r *run) []gap
}

// finders makes the readers that a stage's row needs.
func finders(p *Policy, s Stage) []finder {
	var list []finder
	mentions := &seekers{known: map[string]uint64{}}
	for _, need := range s.Needs {
		mention, named := p.Mentions[need]
		switch {
		case need == needScenarios:
			list = append(list, &scenarios{asked: true})
		case need == needNarratives:
			list = append(list, &narratives{})
		case named:
			mentions.list = append(mentions.list, newSeeker(mention))
		default:
			list = append(list, valueNeed{metric: metrics[need]})
		}
	}
	if len(mentions.list) > 0 {
		list = append(list, mentions)
	}
	if s.Questions != nil {
		list = append(list, newQuestionnaire(s.Questions))
	}
	return list
}

// A valueNeed wants a value stated that is the stage's own.
type valueNeed struct{ metric metric }

func (valueNeed) line(*line)  {}
func (valueNeed) json(*event) {}

func (v valueNeed) gaps(r *run) []gap {
	var absent, quoted *statement
	inJSON, ok := false, false
	for i := range r.ledger.list {
		s := &r.ledger.list[i]
		if !v.counts(s) {
			continue
		}
		switch {
		case s.absent:
			if absent == nil && !r.quotes(*s) {
				absent = s
			}
		case r.quotes(*s):
			quoted = s
		default:
			ok = true
			inJSON = inJSON || s.json
		}
	}
	switch {
	case ok && (inJSON || absent == nil || !absent.json):
		return nil
	case absent != nil:
		return []gap{{absent.at, v.metric.String() + " has no value: " + r.ledger.quote(*absent)}}
	case quoted != nil:
		return []gap{{quoted.at, v.metric.String() + " of this stage is not stated, only an earlier stage's: " + r.ledger.quote(*quoted)}}
	}
	return []gap{{r.doc.last, v.metric.String() + " is not stated with a value: want, for instance, " + example(v.metric)}}
}

// counts says whether a statement is one of the metric. In derivations it is
// exact; values per share are not results where they are one of many.
func (v valueNeed) counts(s *statement) bool {
	if v.metric == xFinal && s.second && s.metric == xRefine {
		return true
	}
	return s.metric == v.metric && (!s.hush || v.metric != ivps)
}

func example(m metric) string {
	switch m {
	case ivps:
		return "IVPS: $23.45"
	case eivps:
		return "E[IVPS]: $23.45"
	case eirr:
		return "E[IRR]: 12.5%"
	case pirr:
		return "P(IRR > Hurdle): 40%"
	}
	return m.String() + " = 1.8"
}

// quotes says whether a statement is of an earlier stage, not this one's own.
func (r *run) quotes(s statement) bool {
	switch s.state {
	case earlier:
		return true
	case anyT2:
		return r.stage.Knows > 0 && !r.turnTwo
	}
	return s.state > 0 && int(s.state) <= r.stage.Knows
}

// gaps lists what the row asks for beside the artifacts and is not there.
func (r *run) gaps() []gap {
	var list []gap
	for _, f := range r.finders {
		list = append(list, f.gaps(r)...)
	}
	return list
}
