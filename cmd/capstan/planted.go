package main

import (
	"bytes"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/wards"
)

// plantedLabels collects planted faults as labels.
type plantedLabels struct {
	cascade string
	digests map[*wards.Ward]string
	phases  map[*cascades.Validator]string // of phases that are validators
	lines   *bytes.Buffer
	now     time.Time
}

func newPlanted(c *cascades.Cascade, chosen string) (p plantedLabels, err error) {
	gates, err := c.Gates(cascades.Chosen(chosen), runner.ReadFile)
	p = plantedLabels{c.ID, map[*wards.Ward]string{}, map[*cascades.Validator]string{}, &bytes.Buffer{}, time.Now().UTC().Truncate(time.Second)}
	for _, g := range gates {
		p.digests[g.Ward] = g.Digest
		if g.Validator != nil {
			p.phases[g.Validator] = g.Digest
		}
	}
	return p, err
}

func (p plantedLabels) identity(phase *cascades.Phase, w *wards.Ward) string {
	if digest, known := p.digests[w]; known || phase.Tool == nil {
		return digest
	}
	return p.phases[phase.Tool.Validator]
}

func (p plantedLabels) take(l stats.Label) {
	l.By, l.Time = "capstan measure mutate", p.now
	if line, err := l.Line(); err == nil {
		p.lines.Write(line)
	}
}
