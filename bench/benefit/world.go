package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
)

// Rates are the error rates of the model and the judge.
type Rates struct {
	Wrong     float64 // of the model's texts
	Form      float64 // of the wrong texts: the share with a fault of form
	FalsePass float64 // of the judge, for wrong texts
	FalseFail float64 // of the judge, for right texts
}

// stated are the rates of the table. A retry has the same error rate as a first
// text.
var stated = Rates{Wrong: 0.30, Form: 0.60, FalsePass: 0.20, FalseFail: 0.05}

// seed determines the texts and the errors of the judge.
const seed = 20261128

// A World is the model and the judge of all runs. It knows the bad texts.
type World struct {
	rates Rates
	mu    sync.Mutex
	runs  map[string]*writing
}

// A writing has the texts of one run.
type writing struct {
	rates Rates
	row   Row
	lot   string // the key of its random numbers, the same in every setup
	bad   map[string]*Bad
	last  string
	count int
}

// begin sets the row that a run has to write.
func (w *World) begin(run string, row Row, lot string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[run] = &writing{rates: w.rates, row: row, lot: lot, bad: map[string]*Bad{}}
}

// end removes a run and returns its bad texts.
func (w *World) end(run string) map[string]*Bad {
	w.mu.Lock()
	defer w.mu.Unlock()
	bad := w.runs[run].bad
	delete(w.runs, run)
	return bad
}

// Call writes a text, or judges the last text of the run.
func (w *World) Call(_ context.Context, r model.Request) (model.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.runs[r.Run]
	if of == nil {
		return model.Response{}, fmt.Errorf("run %s has no row", r.Run)
	}
	resp := model.Response{Model: r.Model, Finish: "stop", Usage: model.Usage{Calls: 1}}
	var err error
	if r.Validator != "" {
		resp.Text = of.judge()
	} else {
		resp.Text, err = of.write()
	}
	return resp, err
}

func (w *writing) write() (string, error) {
	w.count++
	rng := random(w.lot, fmt.Sprint("text ", w.count))
	w.last = w.row.right
	if rng.Float64() >= w.rates.Wrong {
		w.bad[w.last] = nil
		return w.last, nil
	}
	kind := Meaning
	if rng.Float64() < w.rates.Form {
		kind = Form
	}
	b, err := w.row.bad(kind, rng)
	if err != nil {
		return "", err
	}
	w.last = b.text
	w.bad[b.text] = &b
	return b.text, nil
}

// judge returns the same verdict for the same text.
func (w *writing) judge() string {
	rng := random(w.lot, "judge of "+w.last)
	passes := rng.Float64() >= w.rates.FalseFail
	if w.bad[w.last] != nil {
		passes = rng.Float64() < w.rates.FalsePass
	}
	return fmt.Sprintf(`{"valid": %v, "reason": "the text was compared with the input"}`, passes)
}

// random returns the random numbers for one purpose.
func random(lot, purpose string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", lot, purpose)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
