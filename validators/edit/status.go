package edit

import (
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/edit/markers"
)

// A status is a status file.
type status struct {
	top *fields

	presentation struct {
		voice, register string
		avoid, preserve []label
	}
	rubric struct {
		primary             string
		secondary, nonGoals []label
	}
	markFormat string
	claims     []claim
	hashes     []hash
}

// A claim is one of the ledger.
type claim struct {
	id                string
	status            claimStatus
	span, claim, test string
}

type claimStatus string

// What the ledger says of a claim.
const (
	asserted  claimStatus = "asserted"
	implied   claimStatus = "implied"
	candidate claimStatus = "candidate"
	disputed  claimStatus = "disputed"
	retired   claimStatus = "retired"
)

// status reads a status file; nil where something is wrong.
func (r *reader) status(root *yaml.Node) *status {
	s := &status{top: r.top(root, "the status file", "status")}
	if s.top == nil {
		return nil
	}
	for _, p := range allParts()[1:] {
		if s.top.get(string(p)) == nil {
			r.at(s.top.node, "the status file has no %s", p)
		}
	}
	s.readPresentation()
	s.readRubric()
	if gap := s.top.child(string(PartGapPolicy)); gap != nil {
		if s.markFormat = gap.text("mark_format"); len(s.markFormat) > markers.MaxFormat {
			r.at(gap.get("mark_format"), "mark_format has more than %d bytes", markers.MaxFormat)
		}
	}
	s.readClaims()
	s.hashes = hashesIn(s.top.node)
	if len(r.wrong) > 0 {
		return nil
	}
	return s
}

func (s *status) readPresentation() {
	p := s.top.child(string(PartPresentationSpec))
	if p == nil {
		return
	}
	s.presentation.voice, s.presentation.register = p.text("voice"), p.text("register")
	s.presentation.avoid, s.presentation.preserve = p.labelled("avoid", "A"), p.labelled("preserve", "P")
}

func (s *status) readRubric() {
	r := s.top.child(string(PartRubric))
	if r == nil {
		return
	}
	s.rubric.primary = r.required("primary_goal")
	s.rubric.secondary, s.rubric.nonGoals = r.labelled("secondary_goals", "SG"), r.labelled("non_goals", "NG")
	r.text("stop_condition")
}

func (s *status) readClaims() {
	n := s.top.get(string(PartClaimLedger))
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		s.top.at(n, "claim_ledger must be a list of claims, not %s", kind(n))
		return
	}
	lines := map[string]int{}
	for _, e := range n.Content {
		c, ok := s.top.claim(e)
		if !ok {
			continue
		}
		if line, twice := lines[c.id]; twice {
			s.top.at(e, "claim %s is in the ledger at line %d already", c.id, line)
		}
		lines[c.id] = e.Line
		s.claims = append(s.claims, c)
	}
}

// maxID is the longest id of a claim, in characters.
const maxID = 100

func (r *reader) claim(n *yaml.Node) (claim, bool) {
	f := r.mapping(n, "a claim")
	if f == nil {
		return claim{}, false
	}
	c := claim{id: f.required("id")}
	if c.id == "" {
		return c, false
	}
	if clean(c.id) != c.id || utf8.RuneCountInString(c.id) > maxID {
		r.at(n, "the id of a claim is one line of at most %d characters", maxID)
		return c, false
	}
	f.what = "claim " + c.id
	if at := f.get("status"); at == nil {
		f.required("status")
	} else {
		c.status = word(r, at, "status of claim "+c.id, asserted, implied, candidate, disputed, retired)
	}
	c.span = f.text("span")
	if c.status == retired {
		c.claim, c.test = f.text("claim"), f.text("preservation_test")
	} else {
		c.claim, c.test = f.required("claim"), f.required("preservation_test")
	}
	return c, true
}

// claim finds a claim by its id.
func (s *status) claim(id string) (claim, bool) {
	for _, c := range s.claims {
		if c.id == id {
			return c, true
		}
	}
	return claim{}, false
}
