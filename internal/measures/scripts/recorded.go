package scripts

import (
	"iter"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// A call is one request of a run with its reply.
type call struct {
	request  *model.Request
	response *model.Response
}

// A requestKey is what scripts distinguish requests by, except for the text.
type requestKey struct {
	phase, validator, role string
	attempt, turn          int
}

// Recorded returns the replies of the models in the events of a run. A request without a reply is
// left out. A repeated request has the last reply. Requests of the same phase, attempt and turn may
// have different replies, for example for the items of a list. They are distinguished by a line
// that only one request contains. Without such a line, they are answered in their order.
func Recorded(events iter.Seq2[event.Event, error]) ([]scripted.Reply, error) {
	var order []event.Path
	calls := map[event.Path]*call{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch {
		case e.Kind == event.ModelCalled && e.Request != nil:
			if calls[e.Path] == nil {
				order = append(order, e.Path)
			}
			calls[e.Path] = &call{request: e.Request}
		case e.Kind == event.ModelReplied && calls[e.Path] != nil:
			calls[e.Path].response = e.Response
		}
	}
	groups := map[requestKey][]*call{}
	for _, at := range order {
		if c := calls[at]; c.response != nil {
			groups[c.requestKey()] = append(groups[c.requestKey()], c)
		}
	}
	marks := map[*call]string{}
	for _, group := range groups {
		mark(group, marks)
	}
	var list []scripted.Reply
	for _, at := range order {
		if c := calls[at]; c.response != nil {
			list = append(list, c.reply(marks[c]))
		}
	}
	return list, nil
}

func (c *call) requestKey() requestKey {
	r := c.request
	return requestKey{r.Phase, r.Validator, r.Role, r.Attempt, r.Turn}
}

func (c *call) reply(contains string) scripted.Reply {
	r := scripted.Reply{
		Phase: c.request.Phase, Validator: c.request.Validator, Role: c.request.Role,
		Attempt: c.request.Attempt, Turn: &c.request.Turn, Contains: contains,
		Text: c.response.Text, ToolCalls: c.response.ToolCalls, Failure: c.response.Failure,
	}
	if r.Failure != nil && r.Failure.Temporary() {
		r.Times = model.Tries
	}
	return r
}

// The limits of the search for lines: the requests of a group, and the length of a line.
const (
	maxGroup = 2_000
	maxMark  = 160
	minMark  = 4
)

// mark finds a line for each call that no other call contains.
func mark(group []*call, marks map[*call]string) {
	if len(group) < 2 || len(group) > maxGroup || !slices.ContainsFunc(group, func(c *call) bool { return !answersAlike(c, group[0]) }) {
		return
	}
	had := map[string]int{} // line → number of requests with it
	lines := make([][]string, len(group))
	for i, c := range group {
		lines[i] = c.lines()
		for _, line := range lines[i] {
			had[line]++
		}
	}
	for i, c := range group {
		for _, line := range lines[i] {
			if had[line] == 1 && !slices.ContainsFunc(group, func(o *call) bool { return o != c && o.has(line) }) {
				marks[c] = line
				break
			}
		}
	}
}

func answersAlike(a, b *call) bool {
	return a.response.Text == b.response.Text && (a.response.Failure == nil) == (b.response.Failure == nil) &&
		slices.EqualFunc(a.response.ToolCalls, b.response.ToolCalls, func(x, y model.ToolCall) bool {
			return x.Name == y.Name && x.Arguments == y.Arguments
		})
}

// lines returns the distinct lines of the request. Long lines are cut.
func (c *call) lines() []string {
	seen := map[string]bool{}
	var list []string
	for _, m := range c.request.Messages {
		for line := range strings.Lines(m.Content) {
			line = clips.Tail(strings.TrimSpace(line), maxMark) // lines of a template begin alike
			if len(line) >= minMark && !seen[line] {
				seen[line] = true
				list = append(list, line)
			}
		}
	}
	return list
}

// has reports whether a message contains the text.
func (c *call) has(text string) bool {
	return slices.ContainsFunc(c.request.Messages, func(m model.Message) bool { return strings.Contains(m.Content, text) })
}
