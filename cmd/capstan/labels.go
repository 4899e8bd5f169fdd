package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// labelDir returns the folder of labels of a cascade file.
func labelDir(file, asked string) string {
	return cmp.Or(asked, filepath.Join(filepath.Dir(file), stats.LabelDir))
}

// readLabels reads all labels of a folder. Invalid lines are reported and skipped. A missing folder
// is an error only if it was requested.
func (c *Command) readLabels(dir string, asked bool) ([]stats.Label, error) {
	files, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return nil, nil
	case err != nil:
		return nil, usage("labels: %w", err)
	}
	var labels []stats.Label
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

func (c *Command) readLabelFile(dir, name string) ([]stats.Label, error) {
	f, err := files.Root{Dirs: []string{dir}}.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	labels, wrong, err := stats.ReadLabels(f)
	for i, w := range wrong {
		if i == maxWrong {
			fmt.Fprintf(c.Stderr, "note: %s: and %d more lines that are no labels\n", name, len(wrong)-i)
			break
		}
		fmt.Fprintf(c.Stderr, "note: %s: %v\n", name, w)
	}
	return labels, err
}

// maxWrong is the maximum number of invalid lines of a file that are reported.
const maxWrong = 10
