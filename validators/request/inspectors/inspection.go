package inspectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/hints"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

var errOutOfTime = errors.New("out of time")

// An inspection inspects the criteria of a request, in their order.
type inspection struct {
	*Inspector
	limits   limits
	request  *request.Request
	tree     *worktree.Tree // nil if there is none; noTree has the reason
	noTree   error
	services *services
	browser  *chromium
	evidence request.Evidence
	computed bool // every criterion was, so far
	ports    struct {
		known   bool
		problem error // of the required ports
	}

	number int // of the criterion at hand, from 1
	shown  int // the number of screenshots before it
	at     request.Criterion
	refs   []string // the evidence of its checks
}

func (i *Inspector) begin(r *request.Request) *inspection {
	at := &inspection{Inspector: i, limits: i.limits.withDefaults(), request: r, computed: true}
	at.tree, at.noTree = openWorktree(i.Root, r.WorktreePath)
	at.services = newServices(r.Services, i.Network, at.limits)
	at.browser = &chromium{program: i.Browser, dir: i.EvidenceDir, limits: at.limits}
	return at
}

func (n *inspection) end() {
	n.browser.close()
	n.tree.Close()
}

// A finding is the result of a check. An empty status means that a judge must
// decide.
type finding struct {
	status  request.Verdict
	message string
	remedy  string
}

func holds(format string, args ...any) finding {
	return finding{status: request.Pass, message: fmt.Sprintf(format, args...)}
}

func blocked(format string, args ...any) finding {
	return finding{status: request.Blocked, message: fmt.Sprintf(format, args...)}
}

func fails(remedy, format string, args ...any) finding {
	return finding{request.Fail, fmt.Sprintf(format, args...), remedy}
}

func open(format string, args ...any) finding {
	return finding{message: fmt.Sprintf(format, args...)}
}

// criterion inspects the criterion at an index.
func (n *inspection) criterion(ctx context.Context, index int) request.Result {
	n.number, n.at = index+1, n.request.Criteria[index]
	n.shown, n.refs = len(n.evidence.Screenshots), nil
	limited, cancel := context.WithTimeoutCause(ctx, n.limits.Criterion, errOutOfTime)
	defer cancel()
	sum := n.look(limited)
	if sum.status == request.Pass || sum.status == "" {
		sum = n.pictured(limited, sum)
	}
	n.computed = n.computed && (sum.status == request.Pass || sum.status == request.Fail)
	if sum.status == "" {
		return n.judge(limited, sum)
	}
	return request.Result{
		CriterionID: n.at.ID, Status: sum.status, Evidence: clip(sum.message, 4000), Remediation: clip(sum.remedy, 2000), EvidenceRefs: n.refs,
	}
}

// cite names an entry of the evidence for the criterion at hand.
func (n *inspection) cite(pointer string) { n.refs = append(n.refs, pointer) }

// look makes all checks of the hint, including those after a failed check.
func (n *inspection) look(ctx context.Context) finding {
	if !n.ports.known {
		n.ports.problem = n.services.required(ctx)
		n.ports.known = ctx.Err() == nil
	}
	if n.ports.problem != nil {
		return blocked("%v", n.ports.problem)
	}
	var all []finding
	for _, c := range hints.Parse(n.at.Hint) {
		all = append(all, n.inspect(ctx, check{c}))
	}
	return sum(all)
}

// A check is one declaration of a hint.
type check struct{ hints.Check }

// inspect makes one check.
func (n *inspection) inspect(ctx context.Context, c check) finding {
	looks := map[string]request.Type{"file": request.Code, "run": request.Code, "page": request.Browser}[c.Keyword]
	switch asked := n.request.ValidationType; {
	case ctx.Err() != nil:
		return blocked("%v", context.Cause(ctx))
	case c.Err != nil:
		return blocked("%v", c.Err)
	case looks != "" && asked != request.Both && asked != looks:
		return blocked("the request asks for %s validation alone, and the hint needs %s validation", asked, looks)
	}
	switch c.Keyword {
	case "file":
		return c.file(ctx, n)
	case "run":
		return c.run(ctx, n)
	case "port":
		return c.port(ctx, n)
	case "url":
		return c.url(ctx, n)
	case "page":
		return c.page(ctx, n)
	}
	return c.mention(ctx, n)
}

// sum returns the combined result of findings: the first status of FAIL,
// BLOCKED, open and PASS that occurs.
func sum(all []finding) finding {
	var total finding
	var message, remedies []string
	found := map[request.Verdict]bool{}
	for _, f := range all {
		found[f.status] = true
		message = append(message, f.message)
		if f.remedy != "" {
			remedies = append(remedies, f.remedy)
		}
	}
	for _, s := range []request.Verdict{request.Fail, request.Blocked, "", request.Pass} {
		if found[s] {
			total.status = s
			break
		}
	}
	total.message, total.remedy = strings.Join(message, "; "), strings.Join(remedies, "; ")
	return total
}

// judge puts a criterion that is open to the judge.
func (n *inspection) judge(ctx context.Context, so finding) request.Result {
	result := request.Result{CriterionID: n.at.ID, Status: request.Blocked}
	if n.Judge == nil {
		result.Evidence = clip(so.message+"; the rest needs judgement, and there is no judge", 4000)
		return result
	}
	judged, err := n.Judge(ctx, n.at, n.evidence)
	switch {
	case err != nil:
		result.Evidence = clip(so.message+"; judge: "+err.Error(), 4000)
		return result
	case !slices.Contains([]request.Verdict{request.Pass, request.Fail, request.Skip, request.Blocked}, judged.Status):
		result.Evidence = clip(fmt.Sprintf("%s; judge: %q is no status", so.message, judged.Status), 4000)
		return result
	}
	judged.CriterionID = n.at.ID
	judged.Evidence = clip(strings.TrimPrefix(so.message+"; judged: "+judged.Evidence, "; "), 4000)
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
	return clips.Chars(strings.ToValidUTF8(text, "\uFFFD"), max)
}
