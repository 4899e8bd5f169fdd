package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A balance weighs the gates of the cascades that a server offers, with the labels
// and the evidence beside their files, as trust, label and cost do.
type balance struct {
	*Command
	kit     *kit
	offered map[string]string
	flags   serveFlags
}

// Weigh gives what an offered cascade is weighed with.
func (b *balance) Weigh(ctx context.Context, name string) (*serve.Scale, error) {
	file, ok := b.offered[name]
	if !ok {
		return nil, orders.ErrNoCascade
	}
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
	heard := *b.Command
	heard.Stderr = &notes
	q, err := heard.question(ctx, s, weighFlags{alarms: measure.FalseAlarms})
	if err != nil { // a file beside the cascade is none of ours
		return nil, orders.NewProblem(http.StatusConflict, "not_measured", err.Error())
	}
	return &serve.Scale{Question: q, Cascade: s.cascade, Notes: strings.FieldsFunc(notes.String(), func(r rune) bool { return r == '\n' })}, nil
}

// Label keeps a person's word on a text beside the cascade.
func (b *balance) Label(name, text string, l measure.Label) error {
	return keepLabel(labelDir(b.offered[name], ""), text, l)
}
