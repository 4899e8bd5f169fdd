package rehearsal

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// A call is one request of a run with what was answered.
type call struct {
	request  *model.Request
	response *model.Response
}

// same is what a script tells requests apart by, but for their text.
type same struct {
	phase, validator, role string
	attempt, turn          int
}

// Recorded answers what the models of a run were asked as they did, from the
// run's whole events. A call that was not answered has no reply; of one that was
// made anew the last answer stands. Requests of the same phase, attempt and turn
// whose answers differ, those of the items of each, are told apart by a line
// that the one has and the others have not; where there is none they are
// answered in the order in which they were made.
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
	groups := map[same][]*call{}
	for _, at := range order {
		if c := calls[at]; c.response != nil {
			groups[c.same()] = append(groups[c.same()], c)
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

func (c *call) same() same {
	r := c.request
	return same{r.Phase, r.Validator, r.Role, r.Attempt, r.Turn}
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

// Bounds of what is looked for: how many requests are told apart, and how long a
// line is that tells them.
const (
	maxGroup = 2_000
	maxMark  = 160
	minMark  = 4
)

// mark finds, for each of the calls, a line that none of the others has.
func mark(group []*call, marks map[*call]string) {
	if len(group) < 2 || len(group) > maxGroup || !slices.ContainsFunc(group, func(c *call) bool { return !answersAlike(c, group[0]) }) {
		return
	}
	had := map[string]int{} // line → how many of the requests have it
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

// lines are the different lines of the request, cut where they are long.
func (c *call) lines() []string {
	seen := map[string]bool{}
	var list []string
	for _, m := range c.request.Messages {
		for line := range strings.Lines(m.Content) {
			line = cut(strings.TrimSpace(line))
			if len(line) >= minMark && !seen[line] {
				seen[line] = true
				list = append(list, line)
			}
		}
	}
	return list
}

// has says whether a text stands in the request where a script looks for it.
func (c *call) has(text string) bool {
	return slices.ContainsFunc(c.request.Messages, func(m model.Message) bool { return strings.Contains(m.Content, text) })
}

// cut keeps the end of a long line: templates begin alike.
func cut(line string) string {
	from := len(line) - maxMark
	for from > 0 && from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	return line[max(from, 0):]
}
