package journal

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
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
	Number   int    // from 1; 0 for calls and checks beside the attempts: of pre-wards, sub-cascades, filters, thresholds, evaluators
	Outcome  string // succeeded, retry, blocked, exhausted, failed …; "" where it is not over
	Item     string // status of the item of each that it is in, or of the visit; "" where that is not over
	Visit    string // status of the visit to the phase; "" where it is not over
	Edited   bool   // a person gave the text
	Shared   bool   // another run had its texts: this one took them over, or replays it
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
	Shared    bool // another run was told so too, or its text was that of one
}

// Place is the last name of its path, which says where in the cascade the check
// stands: post[0].
func (g Judgement) Place() string { return g.Path.Last() }

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
		k := newTaker()
		for _, head := range heads {
			k.begin(head.Attempt)
			err := j.eachRow(ctx, c, head.n, 0, isCounted, func(l logged) error {
				if !k.row(&l) {
					return j.garbled(fmt.Sprintf("row %d of run %s", l.row, head.RunID), nil)
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
			start, err := j.verified("the start of run "+h.RunID, v[4], v[5])
			if err != nil {
				return err
			}
			if err := schema.Unmarshal(start, &row); err != nil {
				return j.garbled("the start of run "+h.RunID, err)
			}
			raw, err := encodings.Of(row)
			d := digestOf(raw)
			h.Version, h.Shared = hex.EncodeToString(d[:]), strings.HasPrefix(row.Model, "replay:")
			list = append(list, h)
			if err == nil && len(list) == f.Limit {
				return errEnough
			}
			return err
		}, "SELECT n, id, started, status, data, "+j.says.sum+" FROM run JOIN start ON run = n"+where+" ORDER BY n DESC", args...)
	})
	slices.Reverse(list)
	return list, err
}

func isCounted(kind string) bool {
	return isJudged(kind) || kind == string(event.AttemptFinished) || kind == string(event.PhaseFinished) || kind == toolEffect
}
