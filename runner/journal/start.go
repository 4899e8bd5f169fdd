package journal

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators/schema"
)

// startRow is a [runner.Start] as the file has it.
type startRow struct {
	Files    []file            `json:"files"`
	Input    map[string]any    `json:"input"`
	Model    string            `json:"model,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	From     string            `json:"from,omitempty"`
	Alike    string            `json:"alike,omitempty"`
}

// A file of a cascade: as a text where it is one.
type file struct {
	Name  string `json:"name"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

func encodeStart(p *packer, s runner.Start) ([]byte, error) {
	row := startRow{Input: p.liftObject(s.Input), Model: s.Model, Settings: s.Settings, From: s.From, Alike: s.Alike}
	for _, f := range s.Files {
		if text := string(f.Text); strings.ToValidUTF8(text, "") == text {
			row.Files = append(row.Files, file{Name: f.Name, Text: text})
		} else {
			row.Files = append(row.Files, file{Name: f.Name, Bytes: []byte(p.secrets.hidden(string(f.Text)))})
		}
	}
	return p.encode(row)
}

// readStart reads what a run began with, as the view has it.
func (j *Journal) readStart(ctx context.Context, c *conn, n int64, v view) (s runner.Start, err error) {
	found, err := c.one(ctx, "SELECT run.id, cascade, parent, data, "+j.says.sum+" FROM run LEFT JOIN start ON run = n WHERE n = ?", n)
	if err != nil {
		return s, err
	}
	if found == nil {
		return s, runner.ErrNoRun
	}
	s.RunID, s.CascadeID, s.Parent = word(found[0]), word(found[1]), word(found[2])
	raw, err := j.verified("the start of run "+s.RunID, found[3], found[4])
	if err != nil {
		return s, err
	}
	var row startRow
	if err := schema.Unmarshal(raw, &row); err != nil {
		return s, j.garbled("the start of run "+s.RunID, err)
	}
	if err := j.fillStart(ctx, c, &row, v); err != nil {
		return s, err
	}
	s.Input, s.Model, s.Settings, s.From, s.Alike = row.Input, row.Model, row.Settings, row.From, row.Alike
	for _, f := range row.Files {
		text := []byte(f.Text)
		if f.Bytes != nil {
			text = []byte(v.text(string(f.Bytes)))
		}
		s.Files = append(s.Files, cascades.File{Name: f.Name, Text: text})
	}
	return s, nil
}

// fillStart puts the long strings of a start back, which may be huge.
func (j *Journal) fillStart(ctx context.Context, c *conn, row *startRow, v view) error {
	fill := func(said *string) error {
		whole, err := j.filled(ctx, c, *said, v)
		if err == nil {
			*said = whole.(string)
		}
		return err
	}
	input, err := j.filled(ctx, c, row.Input, v)
	if err != nil {
		return err
	}
	row.Input = input.(map[string]any)
	for i := range row.Files {
		if err := errors.Join(fill(&row.Files[i].Name), fill(&row.Files[i].Text)); err != nil {
			return err
		}
	}
	for name, said := range row.Settings {
		if err := fill(&said); err != nil {
			return err
		}
		row.Settings[name] = said
	}
	return errors.Join(fill(&row.Model), fill(&row.From))
}
