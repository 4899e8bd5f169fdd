package inspectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

var errOutOfTime = errors.New("out of time")

// An inspection is one request being inspected. Criteria are looked at one
// after the other.
type inspection struct {
	*Inspector
	limits   Limits
	request  *request.Request
	tree     *worktree.Tree // nil: there is none, and noTree says why
	noTree   error
	services *services
	browser  *chromium
	evidence request.Evidence
	computed bool // every criterion was, so far

	number int // of the criterion at hand, from 1
	shown  int // the number of screenshots before it
	at     request.Criterion
	refs   []string // the evidence of its checks
}

func (i *Inspector) begin(r *request.Request) *inspection {
	at := &inspection{Inspector: i, limits: i.Limits.withDefaults(), request: r, computed: true}
	at.tree, at.noTree = openWorktree(i.Root, r.WorktreePath)
	at.services = newServices(r.Services, i.Network, at.limits)
	at.browser = &chromium{program: i.Browser, dir: i.EvidenceDir, limits: at.limits}
	return at
}

func (n *inspection) end() {
	n.browser.close()
	n.tree.Close()
}

// A check is one thing of a hint that has to hold.
type check interface {
	// in says whether the check looks at code, at pages, or at either.
	in() request.Type
	// inspect makes the check.
	inspect(ctx context.Context, n *inspection) finding
}

// A finding is what a check came to. An empty status says that judgement is
// needed.
type finding struct {
	status request.Status
	said   string
	remedy string
}

func holds(format string, args ...any) finding {
	return finding{status: request.Passed, said: fmt.Sprintf(format, args...)}
}

func blocked(format string, args ...any) finding {
	return finding{status: request.Unreachable, said: fmt.Sprintf(format, args...)}
}

func fails(remedy, format string, args ...any) finding {
	return finding{request.Failed, fmt.Sprintf(format, args...), remedy}
}

func open(format string, args ...any) finding {
	return finding{said: fmt.Sprintf(format, args...)}
}

// criterion inspects the criterion at an index.
func (n *inspection) criterion(ctx context.Context, index int) request.Result {
	n.number, n.at = index+1, n.request.Criteria[index]
	n.shown, n.refs = len(n.evidence.Screenshots), nil
	limited, cancel := context.WithTimeoutCause(ctx, n.limits.Criterion, errOutOfTime)
	defer cancel()
	sum := n.look(limited)
	if sum.status == request.Passed || sum.status == "" {
		sum = n.pictured(limited, sum)
	}
	n.computed = n.computed && (sum.status == request.Passed || sum.status == request.Failed)
	if sum.status == "" {
		return n.judge(limited, sum)
	}
	return request.Result{
		CriterionID: n.at.ID, Status: sum.status, Evidence: clip(sum.said, 4000), Remediation: clip(sum.remedy, 2000), EvidenceRefs: n.refs,
	}
}

// cite names an entry of the evidence for the criterion at hand.
func (n *inspection) cite(pointer string) { n.refs = append(n.refs, pointer) }

// look makes the checks that the hint names, all of them: one that fails does
// not keep the others from being told.
func (n *inspection) look(ctx context.Context) finding {
	if err := n.services.required(ctx); err != nil {
		return blocked("%v", err)
	}
	var all []finding
	for _, c := range parseHint(n.at.Hint) {
		switch {
		case ctx.Err() != nil:
			all = append(all, blocked("%v", context.Cause(ctx)))
		case n.excludes(c.in()):
			all = append(all, blocked("the request asks for %s validation alone, and the hint needs %s validation", n.request.ValidationType, c.in()))
		default:
			all = append(all, c.inspect(ctx, n))
		}
	}
	return sum(all)
}

func (n *inspection) excludes(t request.Type) bool {
	asked := n.request.ValidationType
	return asked == request.Code && t == request.Browser || asked == request.Browser && t == request.Code
}

// sum is what findings come to together: the first of FAIL, BLOCKED, open and
// PASS that there is.
func sum(all []finding) finding {
	var total finding
	var said, remedies []string
	found := map[request.Status]bool{}
	for _, f := range all {
		found[f.status] = true
		said = append(said, f.said)
		if f.remedy != "" {
			remedies = append(remedies, f.remedy)
		}
	}
	for _, s := range []request.Status{request.Failed, request.Unreachable, "", request.Passed} {
		if found[s] {
			total.status = s
			break
		}
	}
	total.said, total.remedy = strings.Join(said, "; "), strings.Join(remedies, "; ")
	return total
}

// judge puts a criterion that is open to the judge.
func (n *inspection) judge(ctx context.Context, so finding) request.Result {
	result := request.Result{CriterionID: n.at.ID, Status: request.Unreachable}
	if n.Judge == nil {
		result.Evidence = clip(so.said+"; the rest needs judgement, and there is no judge", 4000)
		return result
	}
	judged, err := n.Judge(ctx, n.at, n.evidence)
	switch {
	case err != nil:
		result.Evidence = clip(so.said+"; judge: "+err.Error(), 4000)
		return result
	case !slices.Contains([]request.Status{request.Passed, request.Failed, request.Skipped, request.Unreachable}, judged.Status):
		result.Evidence = clip(fmt.Sprintf("%s; judge: %q is no status", so.said, judged.Status), 4000)
		return result
	}
	judged.CriterionID = n.at.ID
	judged.Evidence = clip(strings.TrimPrefix(so.said+"; judged: "+judged.Evidence, "; "), 4000)
	return judged
}

// collected is the evidence, or nil where there is none.
func (n *inspection) collected() *request.Evidence {
	e := n.evidence
	if e.Screenshots == nil && e.TestResults == nil && e.APIResponses == nil && e.FileChecks == nil {
		return nil
	}
	return &e
}

// clip makes a text valid UTF-8 of at most max characters.
func clip(text string, max int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 4*max+4)], "\uFFFD")
	count, last := 0, 0
	for i := range text {
		if count++; count == max {
			last = i
		}
		if count > max {
			return text[:last] + "…"
		}
	}
	return text
}
