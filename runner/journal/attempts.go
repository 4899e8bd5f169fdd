package journal

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// An Attempt is one attempt at a phase of a run's own cascade, with the
// verdicts on its texts. Texts are named by the first 40 hexadecimal digits of
// their SHA-256, or "" if there is none. The texts themselves are not read.
type Attempt struct {
	RunID    string
	Version  string     // equal for runs of the same files and the same replacement of their model
	Started  time.Time  // of the run
	Status   string     // of the run
	Path     event.Path // draft/attempt[1]
	Phase    string
	Number   int    // from 1; 0 for calls and checks outside attempts, such as those of pre-wards, sub-cascades, filters, thresholds and evaluators
	Outcome  string // such as succeeded, retry, blocked, exhausted or failed; empty if the attempt has not ended
	Item     string // status of its item of each, or of the visit; empty if that has not ended
	Visit    string // status of the visit to the phase; empty if that has not ended
	Edited   bool   // a person wrote the text
	Shared   bool   // the texts come from another run, by sharing or replay
	Text     string
	Model    string        // the model of the last reply; empty if there is none
	Usage    model.Usage   // including judges and cascades within it
	Took     time.Duration // sum of the times of its effects
	Finished time.Time
	Verdicts []Judgement // in the order in which they were given
}

// A Judgement is a verdict on a text of an attempt or on one of its earlier stages.
type Judgement struct {
	Path      event.Path
	Moment    string
	Validator string
	Mode      string
	Turn      int
	Valid     *bool // nil if the validator failed or was not asked
	Broke     bool  // the validator failed
	Reason    string
	Score     *float64
	Text      string // the checked text; empty if the validator checked something else
	Time      time.Time
	Usage     model.Usage // of judges
	Took      time.Duration
	Shared    bool // the verdict or its text comes from another run
}

// Place returns the last name of the path, which is the place of the check in
// the cascade, such as post[0].
func (g Judgement) Place() string { return g.Path.Last() }

// Attempts returns all attempts of the runs that match the filter. The oldest
// run comes first. Within a run, attempts are ordered by their first row.
//
// Attempts of a cascade within a run count as part of the attempt around them.
// If a resumed run repeated something, its last result counts, but the cost
// includes all repetitions. A long reason is given as its name, #text:… .
func (j *Journal) Attempts(ctx context.Context, f Filter) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		heads, err := j.runHeads(ctx, f)
		if err != nil {
			yield(Attempt{}, err)
			return
		}
		for some := range slices.Chunk(heads, batchRuns) {
			list, err := j.attemptsOf(ctx, some)
			for _, a := range list {
				if !yield(a, nil) {
					return
				}
			}
			if err != nil {
				yield(Attempt{}, err)
				return
			}
		}
	}
}

func (j *Journal) attemptsOf(ctx context.Context, heads []runHead) (list []Attempt, err error) {
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		k := newAttemptReader()
		for _, head := range heads {
			k.begin(head.Attempt)
			err := j.eachRow(ctx, c, head.n, 0, isCounted, func(l codec.StoredRow) error {
				if err := k.row(&l); err != nil {
					return j.db.Corrupt(fmt.Sprintf("row %d of run %s", l.Row, head.RunID), err)
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

// TextDigits is the number of hexadecimal digits of a text's SHA-256 that name
// the text.
const TextDigits = codec.NameDigits

// batchRuns is the number of runs in one batch. Between two batches, other
// processes may checkpoint SQLite's log.
const batchRuns = 256

// runHead is the part that all attempts of a run have in common.
type runHead struct {
	Attempt
	n int64
}

func (j *Journal) runHeads(ctx context.Context, f Filter) (list []runHead, err error) {
	err = j.db.Read(ctx, func(c *stores.Conn) error {
		where, args, err := f.where(ctx, c, j.db.Dialect)
		if err != nil {
			return err
		}
		return c.Each(ctx, func(v []driver.Value) error {
			h := runHead{n: stores.Integer(v[0]), Attempt: Attempt{RunID: stores.Text(v[1]), Started: timeOf(stores.Integer(v[2])), Status: stores.Text(v[3])}}
			var row struct {
				Files    []codec.File
				Model    string
				Settings struct{ Gates string } // the gates of the run, if the files do not define them
			}
			start, err := j.verified("the start of run "+h.RunID, v[4], v[5])
			if err != nil {
				return err
			}
			if err := schema.Unmarshal(start, &row); err != nil {
				return j.db.Corrupt("the start of run "+h.RunID, err)
			}
			raw, err := encodings.Of(row)
			d := codec.DigestOf(raw)
			h.Version, h.Shared = hex.EncodeToString(d[:]), strings.HasPrefix(row.Model, "replay:")
			list = append(list, h)
			if err == nil && len(list) == f.Limit {
				return stores.ErrEnough
			}
			return err
		}, "SELECT n, id, started, status, data, sum FROM run JOIN start ON run = n"+where+" ORDER BY n DESC", args...)
	})
	slices.Reverse(list)
	return list, err
}

func isCounted(kind string) bool {
	return isJudged(kind) || kind == string(event.AttemptFinished) || kind == string(event.PhaseFinished) || kind == codec.ToolEffect
}
