package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators/capy"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schedule"
)

// A Setup is a combination of gates.
type Setup struct {
	name  string
	wards func(t *Task) []any
}

// setups returns the rows of the table.
func setups() []Setup {
	judge := func(t *Task, more map[string]any) any {
		ward := map[string]any{"judge": t.Question}
		maps.Copy(ward, more)
		return ward
	}
	gates := func(t *Task, more map[string]any) (list []any) {
		for _, check := range t.Checks {
			ward := maps.Clone(check)
			maps.Copy(ward, more)
			list = append(list, ward)
		}
		return list
	}
	blocking := map[string]any{"mode": "blocking"}
	retry := map[string]any{"mode": "retry", "max_attempts": 3}
	last := map[string]any{"mode": "retry", "max_attempts": 3, "after": "free"}
	return []Setup{
		{"no gates", func(*Task) []any { return nil }},
		{"one judge", func(t *Task) []any { return []any{judge(t, blocking)} }},
		{"computed gates", func(t *Task) []any { return gates(t, blocking) }},
		{"computed gates, judge and retries", func(t *Task) []any { return append(gates(t, retry), judge(t, last)) }},
	}
}

// cascade returns the task as a cascade with the wards of a setup.
func (t *Task) cascade(r *runner.Runner, s Setup) (*cascades.Cascade, error) {
	inputs := map[string]any{}
	instructions := "Write the requested text."
	for _, name := range t.inputNames() {
		inputs[name] = "what the author is given"
		instructions += "\n\n{{ input." + name + " }}"
	}
	phase := map[string]any{"name": "write", "instructions": instructions}
	if wards := s.wards(t); len(wards) > 0 {
		phase["wards"] = map[string]any{"post": wards}
	}
	text, err := json.Marshal(map[string]any{"cascade_id": "benefit", "model": "fake", "inputs_schema": inputs, "phases": []any{phase}})
	if err != nil {
		return nil, err
	}
	return r.Parse(t.Name+".yaml", text)
}

// A Count is the result of the runs of a task in a setup.
type Count struct {
	task, setup string
	rows        int
	released    int
	bad         map[Kind]int // of the released texts
	calls       int
	passed      map[string]int // the faults of the released texts, by operator
}

// measured runs a number of rows of every task in every setup.
func measured(ctx context.Context, tasks []*Task, rows int, rates Rates) (list []Count, err error) {
	world := &World{rates: rates, runs: map[string]*writing{}}
	gates := append(schedule.Validators(schedule.Options{}), capy.Validator, edit.Validator, request.Validator)
	r, err := runner.New(runner.WithModel(world), runner.WithModelName("fake"), runner.WithValidators(gates...))
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		for _, s := range setups() {
			c, err := t.cascade(r, s)
			if err != nil {
				return nil, err
			}
			one, err := count(ctx, r, world, t, s, c, rows)
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// count runs the rows concurrently. Their order does not affect the results.
func count(ctx context.Context, r *runner.Runner, world *World, t *Task, s Setup, c *cascades.Cascade, rows int) (Count, error) {
	total := Count{task: t.Name, setup: s.name, rows: rows, bad: map[Kind]int{}, passed: map[string]int{}}
	var (
		mu      sync.Mutex
		failed  error
		working sync.WaitGroup
	)
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for n := range next {
				err := total.row(ctx, r, world, c, t, n, &mu)
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	for n := range rows {
		next <- n
	}
	close(next)
	working.Wait()
	return total, failed
}

// row writes one text and adds its result.
func (total *Count) row(ctx context.Context, r *runner.Runner, world *World, c *cascades.Cascade, t *Task, n int, mu *sync.Mutex) error {
	lot := fmt.Sprintf("%s %d", t.Name, n)
	id := fmt.Sprintf("row-%d", n)
	row := t.row(random(lot, "row"))
	world.begin(id, row, lot)
	result, err := r.Run(ctx, c, row.inputs, runner.WithRunID(id))
	made := world.end(id)
	var refused *engine.Error
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	total.calls += result.Usage.Calls
	switch result.Status {
	case engine.Succeeded:
	case engine.Blocked, engine.Exhausted:
		return nil
	default:
		return fmt.Errorf("%s, %s: %s: %w", lot, total.setup, result.Status, err)
	}
	text, _ := result.Output.(string)
	bad, known := made[text]
	if !known {
		return fmt.Errorf("%s, %s: the released text was not written: %q", lot, total.setup, text)
	}
	if total.released++; bad != nil {
		total.bad[bad.kind]++
		total.passed[bad.operator]++
	}
	return nil
}
