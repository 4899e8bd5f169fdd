package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/serve"
)

// A balance measures the gates of the cascades that a server offers, with the labels and evidence
// next to their files.
type balance struct {
	*Command
	kit     *kit
	offered map[string]string
	flags   serveFlags
}

// Weigh returns the input of a measurement of an offered cascade.
func (b *balance) Weigh(ctx context.Context, name string) (*serve.Scale, error) {
	file := b.offered[name]
	own := *b.kit
	own.models = b.kit.models.fresh()
	s := &scale{kit: &own, chosen: own.models.chosen(b.flags.first()+"\n"+b.flags.run.model, file)}
	var err error
	if s.runner, err = b.kit.runner(b.Command, b.flags.run, s.chosen); err != nil {
		return nil, err
	}
	if s.cascade, err = s.runner.Load(file); err != nil {
		return nil, err
	}
	var notes bytes.Buffer
	quiet := *b.Command
	quiet.Stderr = &notes
	q, err := quiet.question(ctx, s, statsFlags{alarms: stats.FalseAlarms})
	if err != nil { // a file next to the cascade is invalid
		return nil, serve.NewProblem(http.StatusConflict, "not_measured", err.Error())
	}
	return &serve.Scale{Question: q, Cascade: s.cascade, Notes: strings.FieldsFunc(notes.String(), func(r rune) bool { return r == '\n' })}, nil
}

// Label stores a label next to the cascade.
func (b *balance) Label(name, text string, l stats.Label) error {
	return storeLabel(labelDir(b.offered[name], ""), text, l)
}
