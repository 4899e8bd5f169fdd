package codec

import (
	"hash/maphash"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// Start is a [runner.Start] as stored.
type Start struct {
	Files    []File            `json:"files"`
	Input    map[string]any    `json:"input"`
	Model    string            `json:"model,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	From     string            `json:"from,omitempty"`
	SeedRun  string            `json:"seed_run,omitempty"`
}

// A File is a file of a cascade, as a text if it is valid UTF-8.
type File struct {
	Name  string `json:"name"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

// EncodeStart returns the stored form of a start.
func EncodeStart(p *Packer, s runner.Start) ([]byte, error) {
	row := Start{Input: s.Input, Settings: s.Settings, From: s.From, SeedRun: s.SeedRun}
	for _, f := range s.Files {
		if text := string(f.Text); strings.ToValidUTF8(text, "") == text {
			row.Files = append(row.Files, File{Name: f.Name, Text: text})
		} else {
			row.Files = append(row.Files, File{Name: f.Name, Bytes: []byte(p.Secrets.redactText(string(f.Text)))})
		}
	}
	raw, err := p.Encode(row)
	if err != nil || s.Model == "" {
		return raw, err
	}
	name, err := encodings.Of(s.Model)
	return encodings.With(raw, "model", p.Secrets.Redact(name)), err // never stored as a long text, because lists of runs read it
}

// DecodeStart adds the data of a stored start to s, in a view.
func DecodeStart(s *runner.Start, raw []byte, v View) error {
	var row Start
	if err := schema.Unmarshal(raw, &row); err != nil {
		return err
	}
	s.Input, s.Model, s.Settings, s.From, s.SeedRun = row.Input, row.Model, row.Settings, row.From, row.SeedRun
	for _, f := range row.Files {
		text := []byte(f.Text)
		if f.Bytes != nil {
			text = []byte(v.Text(string(f.Bytes)))
		}
		s.Files = append(s.Files, cascades.File{Name: f.Name, Text: text})
	}
	return nil
}

// ResultRows are the rows of a result's verdicts, in order, because the result
// does not repeat stored verdicts. A 0 stands for a verdict that differs from
// its row; the result contains that verdict itself.
type ResultRows struct {
	Rows []int64 `json:"verdict_rows"`
}

// VerdictRow is the row of a verdict.
type VerdictRow struct {
	row int64
	sum uint64
}

var verdictSeed = maphash.MakeSeed()

// NewVerdictRow returns the row of a verdict.
func NewVerdictRow(row int64, v *event.Verdict) VerdictRow { return VerdictRow{row, verdictSum(v)} }

// verdictSum returns a hash that distinguishes verdicts at the same path, or
// 0 for a verdict that the result must contain.
func verdictSum(v *event.Verdict) uint64 {
	if !plainVerdict(v) {
		return 0
	}
	type values struct {
		phase, moment, validator, mode, reason string
		attempt, turn                          int
		valid                                  bool
	}
	return maphash.Comparable(verdictSeed, values{v.Phase, v.Moment, v.Validator, v.Mode, v.Reason, v.Attempt, v.Turn, *v.Valid}) | 1
}

// plainVerdict reports whether a verdict has only a decision and a reason.
func plainVerdict(v *event.Verdict) bool {
	return v.Valid != nil && v.Error == nil && v.Score == nil && v.Issues == nil && v.Warnings == nil && v.Fix == "" && v.Evidence == nil &&
		v.Status == "" && v.Details == nil
}

// EncodeResult returns the stored form of a result.
func EncodeResult(p *Packer, verdicts map[event.Path]VerdictRow, result engine.Result) ([]byte, error) {
	rows := make([]int64, len(result.Verdicts))
	whole := []event.Verdict{}
	for i := range result.Verdicts {
		v := &result.Verdicts[i]
		if row, ok := verdicts[v.Path]; ok && row.sum != 0 && row.sum == verdictSum(v) {
			rows[i] = row.row
			continue
		}
		whole = append(whole, *v)
	}
	if len(whole) == len(rows) {
		return p.Encode(result)
	}
	result.Verdicts = whole
	data, err := p.Encode(result)
	if err != nil {
		return nil, err
	}
	list, err := encodings.Of(rows)
	return encodings.With(data, "verdict_rows", list), err
}
