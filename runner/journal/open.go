package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Question returns the open question with a key or, if the key is empty, the only
// open one. If there is none, the error is [runner.ErrAnswered]. If several questions
// are open and the key is empty, the error is [runner.ErrSeveral] with their list.
func (r *Run) Question(key event.Path) (*Pending, error) {
	i, err := chosen(r.Pending, key)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.RunID, err)
	}
	return &r.Pending[i], nil
}

// chosen returns the index of the question that an answer with this key is to.
func chosen(open []Pending, key event.Path) (int, error) {
	if key != "" {
		i := slices.IndexFunc(open, func(p Pending) bool { return p.Path == key })
		if i < 0 {
			return 0, fmt.Errorf("question %s: %w", key, runner.ErrAnswered)
		}
		return i, nil
	}
	var fit []int
	for i, p := range open {
		if !p.Expired {
			fit = append(fit, i)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return 0, fmt.Errorf("%w: %s", runner.ErrSeveral, Keys(open))
	case len(open) > 0:
		return 0, nil // the question has expired, and the answer is too late
	}
	return 0, runner.ErrAnswered
}

// Keys returns the keys of open questions in one line, each with its phase.
func Keys(open []Pending) string {
	var list []string
	for _, p := range open {
		if !p.Expired {
			list = append(list, fmt.Sprintf("%s (phase %s)", p.Path, p.Question.Phase))
		}
	}
	return strings.Join(list, ", ")
}

// An openRow is an open question of a run as the file has it.
type openRow struct {
	path  event.Path
	text  string // a [pendingRow]
	fresh bool   // this start of the run has asked it
}

// expiredMark ends the text of a question that takes no answer any more.
const expiredMark = `,"expired":true}`

func (q *openRow) expire() { q.text = strings.TrimSuffix(q.text, "}") + expiredMark }

// expired reports whether it is noted that nobody has answered in time.
func (q *openRow) expired() bool { return strings.HasSuffix(q.text, expiredMark) }

// openRows returns the open questions that a run's row has.
func (j *Journal) openRows(id, text string) (list []openRow, err error) {
	if text == "" {
		return nil, nil
	}
	elements, ok := encodings.Elements(nil, []byte(text))
	for _, raw := range elements {
		var row pendingRow
		if err := schema.Unmarshal(raw, &row); err != nil {
			return nil, j.garbled("a question of run "+id, err)
		}
		list = append(list, openRow{path: row.Path, text: string(raw)})
	}
	if !ok {
		return nil, j.garbled("the questions of run "+id, errors.New("they are no list"))
	}
	return list, nil
}

// rowOf returns what a run's row has of its open questions: nil for none.
func rowOf(open []openRow) any {
	if len(open) == 0 {
		return nil
	}
	texts := make([]string, len(open))
	for i, q := range open {
		texts[i] = q.text
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// open returns the open questions of a run, in the order of their keys.
func (j *Journal) open(ctx context.Context, c *conn, s summary) ([]pendingRow, error) {
	if s.pending == "" {
		return nil, nil
	}
	raw, err := j.unpack(ctx, c, []byte(s.pending), people)
	if err != nil {
		return nil, err
	}
	var list []pendingRow
	if err := schema.Unmarshal(raw, &list); err != nil {
		return nil, j.garbled("the questions of run "+s.RunID, err)
	}
	for i := range list {
		list[i].Question.Path = list[i].Path
	}
	return list, nil
}

// pendings returns open questions as they stand at a time.
func pendings(open []pendingRow, now time.Time) []Pending {
	var list []Pending
	for i := range open {
		p := open[i].Pending
		p.Expired = p.over(now)
		list = append(list, p)
	}
	return list
}
