package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A plan is a list of measurements: each system at each length, width and number of cores,
// repeated for each round.
type plan struct {
	rounds  int
	time    time.Duration
	turns   []int
	widths  []int
	cores   []int
	tls     bool
	systems []system
}

// A cell has the rounds of one system at one length, width and number of cores.
// rounds[i] was measured next to the bare call's rounds[i].
type cell struct {
	cores, turns, width int
	system              system
	rounds              []round
}

// run measures, reports its progress, and writes the table.
func (p plan) run(ctx context.Context, out, progress io.Writer) error {
	if p.rounds < 2 {
		return errors.New("two rounds at least: the first is not counted")
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	var cells []*cell
	for _, cores := range p.cores {
		for _, turns := range p.turns {
			more, err := p.length(ctx, dir, cores, turns)
			if err != nil {
				return err
			}
			cells = append(cells, more...)
			fmt.Fprintf(progress, "%d core(s), %d turn(s) measured after %s\n", cores, turns, time.Since(began).Round(time.Second))
		}
	}
	return p.table(out, cells)
}

// length measures the systems at one length. Each system has one process for
// all rounds.
func (p plan) length(ctx context.Context, dir string, cores, turns int) (cells []*cell, err error) {
	systemCores, endpointCores := []int{0}, []int{1}
	if cores > 1 {
		systemCores, endpointCores = []int{0, 1}, []int{0, 1}
	}
	endpoint, err := start(ctx, endpointCores, dir, modelProcess, fmt.Sprint(p.tls))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, endpoint.stop()) }()
	url, err := endpoint.line()
	if err != nil {
		return nil, err
	}
	children := make([]*child, len(p.systems))
	for i, s := range p.systems {
		if children[i], err = start(ctx, systemCores, dir, systemProcess, s.name, strings.TrimSpace(url), fmt.Sprint(turns)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, children[i].stop()) }()
	}
	for _, width := range p.widths {
		more, err := p.width(children, cell{cores: cores, turns: turns, width: width})
		if err != nil {
			return nil, err
		}
		cells = append(cells, more...)
	}
	return cells, nil
}

// width measures every system in turn. Each round begins with another system,
// so the order has no effect.
func (p plan) width(children []*child, of cell) ([]*cell, error) {
	cells := make([]*cell, len(children))
	for i, s := range p.systems {
		cells[i] = &cell{of.cores, of.turns, of.width, s, nil}
	}
	for n := range p.rounds {
		for k := range children {
			i := (n + k) % len(children)
			r, err := children[i].round(order{of.width, p.time})
			if err != nil {
				return nil, fmt.Errorf("%s, %d turns, %d at once: %w", p.systems[i].name, of.turns, of.width, err)
			}
			if n > 0 {
				cells[i].rounds = append(cells[i].rounds, r)
			}
		}
	}
	return cells, nil
}
