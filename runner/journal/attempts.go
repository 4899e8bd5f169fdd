package journal

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// An Attempt is one attempt at a phase of a run's own cascade, with what was said
// of its texts. Texts are named by the first 40 hexadecimal digits of their
// SHA-256, "" where there is none; none is read.
type Attempt struct {
	RunID    string
	Version  string     // the same for runs of the same files with the same model in place of theirs
	Started  time.Time  // of the run
	Status   string     // of the run
	Path     event.Path // draft/attempt[1]
	Phase    string
	Number   int    // from 1; 0 stands for what was judged beside the attempts: by pre-wards, by a filter
	Outcome  string // succeeded, retry, blocked, exhausted, failed …; "" where it is not over
	Edited   bool   // a person gave the text
	Text     string
	Model    string        // that gave the last reply; "" where none did
	Usage    model.Usage   // judges and cascades within it included
	Took     time.Duration // of its effects, one after the other
	Finished time.Time
	Verdicts []Judgement // in the order in which they were given
}

// A Judgement is a verdict on a text of an attempt, or on what came before it.
type Judgement struct {
	Path      event.Path
	Moment    string
	Validator string
	Mode      string
	Turn      int
	Valid     *bool // nil where the validator could not say, or was not asked
	Broke     bool  // it could not say
	Reason    string
	Score     *float64
	Text      string // that was judged; "" of other things than texts
	Time      time.Time
	Usage     model.Usage // of judges
	Took      time.Duration
}

// Place is the last name of its path, which says where in the cascade the check
// stands: post[0].
func (g Judgement) Place() string { return lastName(g.Path) }

// Attempts gives every attempt of the runs that the filter lets through, the
// oldest run first, and within a run in the order in which they began to tell
// anything. Those of cascades within a run are counted with what they are in. What
// an attempt was given twice, because the run was resumed, it has as it was the
// last time; what that cost it has both times. A long reason stands as its name,
// #text:… .
func (j *Journal) Attempts(ctx context.Context, f Filter) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		heads, err := j.heads(ctx, f)
		if err != nil {
			yield(Attempt{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for lot := range j.lots(ctx, heads) {
			read := <-lot
			for _, a := range read.list {
				if !yield(a, nil) {
					return
				}
			}
			if read.err != nil {
				yield(Attempt{}, read.err)
				return
			}
		}
	}
}

// A lot is the attempts of some runs.
type lot struct {
	list []Attempt
	err  error
}

// lots reads the runs, as many lots at a time as there are processors, and gives
// the lots in order, until ctx ends.
func (j *Journal) lots(ctx context.Context, heads []runHead) <-chan chan lot {
	lots := make(chan chan lot, runtime.GOMAXPROCS(0)-1)
	go func() {
		defer close(lots)
		for some := range slices.Chunk(heads, manyRuns) {
			next := make(chan lot, 1)
			select {
			case lots <- next:
			case <-ctx.Done():
				return
			}
			go func() {
				list, err := j.attemptsOf(ctx, some)
				next <- lot{list, err}
			}()
		}
	}()
	return lots
}

func (j *Journal) attemptsOf(ctx context.Context, heads []runHead) (list []Attempt, err error) {
	err = j.reading(ctx, func(c *conn) error {
		for _, head := range heads {
			k := taker{
				head: head.Attempt, at: map[event.Path]int{}, given: map[event.Path]ruling{}, texts: map[event.Path]string{},
				spent: map[event.Path]spending{},
			}
			err := j.eachRow(ctx, c, head.n, 0, isCounted, func(l logged) error {
				if err := k.row(&l); err != nil {
					return j.garbled(fmt.Sprintf("row %d of run %s", l.row, head.RunID), err)
				}
				return nil
			})
			if err != nil {
				return err
			}
			list = append(list, k.done()...)
		}
		return nil
	})
	return list, err
}

// TextDigits is how many hexadecimal digits of a text's SHA-256 name it.
const TextDigits = 2 * len(digest{})

// manyRuns is how many runs are read at a time: between two lots others may write
// the log back.
const manyRuns = 256

// A runHead is what all attempts of a run begin as.
type runHead struct {
	Attempt
	n int64
}

func (j *Journal) heads(ctx context.Context, f Filter) (list []runHead, err error) {
	err = j.reading(ctx, func(c *conn) error {
		where, args, err := f.where(ctx, c, j.says)
		if err != nil {
			return err
		}
		return c.each(ctx, func(v []driver.Value) error {
			h := runHead{n: integer(v[0]), Attempt: Attempt{RunID: word(v[1]), Started: timeOf(integer(v[2])), Status: word(v[3])}}
			var row struct {
				Files    []file
				Model    string
				Settings struct{ Gates string } // what its gates were, where the files do not tell
			}
			if err := schema.Unmarshal([]byte(word(v[4])), &row); err != nil {
				return j.garbled("the start of run "+h.RunID, err)
			}
			raw, err := encode(row)
			d := digestOf(raw)
			h.Version = hex.EncodeToString(d[:])
			list = append(list, h)
			if err == nil && len(list) == f.Limit {
				return errEnough
			}
			return err
		}, "SELECT n, id, started, status, data FROM run JOIN start ON run = n"+where+" ORDER BY n DESC", args...)
	})
	slices.Reverse(list)
	return list, err
}

func isCounted(kind string) bool {
	return isJudged(kind) || kind == string(event.AttemptFinished) || kind == toolEffect
}

// A taker makes the attempts of one run of its rows.
type taker struct {
	head  Attempt
	list  []Attempt
	at    map[event.Path]int
	given map[event.Path]ruling   // verdicts
	texts map[event.Path]string   // of turns, as they are
	spent map[event.Path]spending // by the validator of the verdict that comes
}

// A ruling is where a verdict stands.
type ruling struct{ attempt, verdict int }

type spending struct {
	usage model.Usage
	took  time.Duration
}

func (k *taker) row(l *logged) error {
	own, rest := ownAttempt(l.path)
	if own == "" {
		return nil
	}
	a := k.attempt(own)
	switch l.kind {
	case string(event.AttemptFinished):
		if rest == "" {
			return k.finished(a, l)
		}
	case string(event.VerdictGiven):
		if !strings.Contains(rest, "attempt[") {
			return k.verdict(a, own, l)
		}
	default:
		return k.effect(a, rest, l)
	}
	return nil
}

// ownAttempt is the attempt at a phase of the run's own cascade that an address
// is in, or what comes beside a phase's attempts, "" for neither, and what the
// address has below it.
func ownAttempt(path event.Path) (own event.Path, rest string) {
	text := string(path)
	start := strings.Index(text, "/attempt[")
	before := text
	if start >= 0 {
		before = text[:start]
	}
	aside := strings.Index(before, "/pre[")
	if i := strings.Index(before, "/filter/post["); i >= 0 {
		aside = i
	}
	switch {
	case strings.Contains(before, "/sub["):
		return "", ""
	case aside >= 0:
		return path[:aside], text[aside+1:]
	case start < 0:
		return "", ""
	}
	end := strings.IndexByte(text[start+1:], '/')
	if end < 0 {
		return path, ""
	}
	end += start + 1
	return path[:end], text[end+1:]
}

// done is the attempts, of which those that did not come to an end have no text.
func (k *taker) done() []Attempt {
	for i := range k.list {
		for n := range k.list[i].Verdicts {
			if v := &k.list[i].Verdicts[n]; v.Text == ofAttempt {
				v.Text = ""
			}
		}
	}
	return k.list
}

func (k *taker) attempt(own event.Path) *Attempt {
	i, ok := k.at[own]
	if !ok {
		i = len(k.list)
		k.at[own] = i
		a := k.head
		a.Path, a.Edited = own, strings.HasSuffix(string(up(own)), "/human_input")
		k.list = append(k.list, a)
	}
	return &k.list[i]
}

func (k *taker) finished(a *Attempt, l *logged) error {
	var b struct {
		Phase, Status, Text string
		Attempt             int
	}
	if err := schema.Unmarshal(l.data, &b); err != nil {
		return err
	}
	a.Phase, a.Number, a.Outcome, a.Text, a.Finished = b.Phase, b.Attempt, b.Status, textName(b.Text), timeOf(l.time)
	for i := range a.Verdicts {
		if v := &a.Verdicts[i]; v.Text == ofAttempt {
			v.Text = a.Text
		}
	}
	return nil
}

// textName names a text that a row has, or that it has the name of.
func textName(said string) string {
	if said == "" {
		return ""
	}
	if name, ok := strings.CutPrefix(said, reference[1:]); ok && len(name) == 2*len(digest{}) {
		return name
	}
	d := digestText(said)
	return hex.EncodeToString(d[:])
}

// ofAttempt stands for an attempt's text until it is told.
const ofAttempt = "?"

func (k *taker) verdict(a *Attempt, own event.Path, l *logged) error {
	v := l.verdict()
	if v == nil {
		var b body
		if err := schema.Unmarshal(l.data, &b); err != nil || b.Verdict == nil {
			return errors.Join(err, errNoVerdict(b.Verdict == nil))
		}
		v = b.Verdict
	}
	where := up(l.path)
	g := Judgement{
		Path: l.path, Moment: v.Moment, Validator: v.Validator, Mode: v.Mode, Turn: v.Turn, Valid: v.Valid, Broke: v.Error != nil,
		Reason: v.Reason, Score: v.Score, Time: timeOf(l.time), Usage: k.spent[l.path].usage, Took: k.spent[l.path].took,
	}
	switch {
	case where == own && a.Outcome == "" && strings.HasPrefix(lastName(own), "attempt["):
		g.Text = ofAttempt
	case where == own:
		g.Text = a.Text
	default:
		g.Text = k.texts[where]
	}
	if a.Phase == "" {
		a.Phase, a.Number = v.Phase, v.Attempt
	}
	if s, again := k.given[l.path]; again {
		k.list[s.attempt].Verdicts[s.verdict] = g
		return nil
	}
	k.given[l.path] = ruling{k.at[own], len(a.Verdicts)}
	a.Verdicts = append(a.Verdicts, g)
	return nil
}

func errNoVerdict(missing bool) error {
	if missing {
		return errors.New("it has no verdict")
	}
	return nil
}

// effect adds what an effect cost, to the attempt and to the verdict that it was
// made for, and notes what a model said in a turn.
func (k *taker) effect(a *Attempt, rest string, l *logged) error {
	took := time.Duration(l.took)
	a.Took += took
	if l.kind == findingEffect {
		s := k.spent[l.path]
		s.took += took
		k.spent[l.path] = s
	}
	if l.kind != modelEffect {
		return nil
	}
	var c came
	if err := schema.Unmarshal(l.data, &c); err != nil {
		return err
	}
	if c.Response == nil {
		return nil
	}
	a.Usage = a.Usage.Add(c.Response.Usage)
	at := asker(l.path)
	switch {
	case strings.Contains(rest, "attempt["): // of a cascade within it
	case c.Validator != "":
		s := k.spent[at]
		s.usage, s.took = s.usage.Add(c.Response.Usage), s.took+took
		k.spent[at] = s
	case c.Role == "":
		k.texts[at] = textName(c.Response.Text)
		if a.Model = c.Model; c.Response.Model != "" && a.Model == "" {
			a.Model = c.Response.Model
		}
		if a.Phase == "" {
			a.Phase, a.Number = c.Phase, c.Attempt
		}
	}
	return nil
}

// asker is the address of the turn or verdict that a model was asked for.
func asker(path event.Path) event.Path {
	for path != "" {
		name, _, _ := strings.Cut(lastName(path), "[")
		switch name {
		case "model", "rung", "vote", "confirm":
			path = up(path)
		default:
			return path
		}
	}
	return path
}
