package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
)

// Rates are how often the model and the judge err.
type Rates struct {
	Wrong     float64 // of the model's texts
	Form      float64 // of the wrong texts, that have a fault of form
	FalsePass float64 // of the judge, on wrong texts
	FalseFail float64 // of the judge, on right texts
}

// stated are the rates of the table. A retry is wrong as often as a
// first text.
var stated = Rates{Wrong: 0.30, Form: 0.60, FalsePass: 0.20, FalseFail: 0.05}

// seed makes the texts and the judge's errors what they are.
const seed = 20261128

// A World is the model and the judge of all runs. It knows which texts are bad.
type World struct {
	rates Rates
	mu    sync.Mutex
	runs  map[string]*writing
}

// A writing is the texts of one run.
type writing struct {
	rates Rates
	row   Row
	lot   string // of its random numbers: the same in every set-up
	bad   map[string]*Bad
	last  string
	count int
}

// begin says what the run of that name is to write.
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

// Call writes a text, or judges the text that the run wrote last.
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

// random are the random numbers of one purpose.
func random(lot, purpose string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", lot, purpose)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
