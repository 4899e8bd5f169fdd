package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/measure"
)

// labelDir is the folder of the labels of a cascade's file.
func labelDir(file, asked string) string {
	return cmp.Or(asked, filepath.Join(filepath.Dir(file), measure.LabelDir))
}

// readLabels reads all labels of a folder, its files in their order. A line that
// is none is told and passed over. A folder that is not there has none, unless it
// was asked for.
func (c *Command) readLabels(dir string, asked bool) ([]measure.Label, error) {
	files, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return nil, nil
	case err != nil:
		return nil, usage("labels: %w", err)
	}
	var labels []measure.Label
	for _, entry := range files {
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".jsonl" {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		found, err := c.readLabelFile(dir, name)
		if err != nil {
			return nil, &exit{exitBroken, err}
		}
		labels = append(labels, found...)
	}
	return labels, nil
}

func (c *Command) readLabelFile(dir, name string) ([]measure.Label, error) {
	f, err := files.Root{Dirs: []string{dir}}.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	labels, wrong, err := measure.ReadLabels(f)
	for i, w := range wrong {
		if i == maxWrong {
			fmt.Fprintf(c.Stderr, "note: %s: and %d more lines that are no labels\n", name, len(wrong)-i)
			break
		}
		fmt.Fprintf(c.Stderr, "note: %s: %v\n", name, w)
	}
	return labels, err
}

// maxWrong is how many lines of one file are told that are no labels.
const maxWrong = 10
