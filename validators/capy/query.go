package capy

import "github.com/seed61713e19/capstan/validators/capy/reading"

// Needs that are neither a value nor a mention of the policy.
const (
	needScenarios  = "scenarios"
	needNarratives = "narratives"
)

// narrativeMentions are what the need of narratives stands for.
var narrativeMentions = []string{"narrative_enrich", "narrative_scenario", "narrative_int_t1", "narrative_int_t2"}

// A query is what a stage's row makes the reading look for.
type query struct {
	mentions []Mention // by topic
	topics   *reading.Topics
	strings  reading.Mask // topics that strings of JSON may speak of
	item     func(t []byte, i int) (id string, end int)
	ids      *questionIDs
	words    map[int]map[string]bool // of an artifact's name, by its number
}

// Topics behind those of the mentions, for what says whose an item is.
const (
	topicDivergence = iota
	topicXNames
	topicAS
	topicGDR
	topicRejected
	extraTopics
)

var extraPhrases = [extraTopics][]string{
	topicDivergence: {"divergence", "diverges", "diverge", "divergent", "disagreement", "Divergence", "DIVERGENCE"},
	topicXNames:     {"x refine", "x {refine", "x {\\text{refine", "ΔX", "Δx"},
	topicAS:         {"AS", "alphasense", "alpha sense"},
	topicGDR:        {"GDR", "gemini", "deep research"},
	topicRejected:   {"rejected", "discarded", "excluded", "not selected", "dropped", "considered but", "alternatives"},
}

func newQuery(p *Policy, s Stage) query {
	q := query{words: map[int]map[string]bool{}}
	for name, a := range p.Artifacts {
		q.words[artifactNumber(name)] = reading.Set(a.Words...)
	}
	var lists [][]string
	for _, need := range s.Needs {
		names := []string{need}
		if need == needNarratives {
			names = narrativeMentions
		}
		for _, name := range names {
			if m, ok := p.Mentions[name]; ok {
				q.mentions = append(q.mentions, m)
				lists = append(lists, m.Phrases)
				if m.Wants == wantsDisposition {
					q.item = findingAt
				}
			}
		}
	}
	for n, phrases := range extraPhrases {
		if ofX := n == topicDivergence || n == topicXNames; ofX && !s.Derivation || !ofX && s.Questions == nil {
			phrases = nil
		}
		lists = append(lists, phrases)
	}
	if s.Derivation {
		q.strings = 1<<(len(q.mentions)+topicDivergence) | 1<<(len(q.mentions)+topicXNames)
	}
	q.topics = reading.NewTopics(lists)
	if s.Questions != nil {
		q.ids = newQuestionIDs(s.Questions)
		q.item = q.ids.at
	}
	return q
}

// about gives the entries of a mention's topic.
func (r *run) about(topic int) []reading.Entry {
	var list []reading.Entry
	for _, e := range r.doc.Entries {
		if e.Topics&(1<<topic) != 0 {
			list = append(list, e)
		}
	}
	return list
}

// extra gives the entries of one of the topics behind the mentions'.
func (r *run) extra(topic int) []reading.Entry { return r.about(len(r.query.mentions) + topic) }
