package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
)

// pause is the time between two looks at a watched directory. Polling works on
// every file system, including network ones.
const pause = 500 * time.Millisecond

// texts are the extensions of watched files.
var texts = []string{".md", ".markdown", ".txt"}

// A watcher finds new and changed files in a directory and its direct
// subfolders. A file is reported once two looks have found it unchanged, so
// that it is complete.
type watcher struct {
	dir     string
	seen    map[string]stamp // at the last look
	settled map[string]stamp // reported
}

type stamp struct {
	size int64
	time time.Time
}

func newWatcher(dir string) *watcher {
	return &watcher{dir: dir, seen: map[string]stamp{}, settled: map[string]stamp{}}
}

// look returns the files that have settled since the last look, by name.
// Unreadable files are looked at again.
func (w *watcher) look() ([]string, error) {
	if _, err := os.Stat(w.dir); err != nil {
		return nil, err
	}
	var files []string
	now := map[string]stamp{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains(texts, strings.ToLower(filepath.Ext(path))) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		found := stamp{info.Size(), info.ModTime()}
		now[path] = found
		if w.seen[path] == found && w.settled[path] != found {
			w.settled[path] = found
			files = append(files, path)
		}
		return nil
	})
	w.seen = now
	return files, err
}

// watch judges each new or changed file and prints a line, until an interrupt.
func (g *gatekeeper) watch(ctx context.Context, dir string) error {
	w := newWatcher(dir)
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		files, err := w.look()
		if err != nil {
			return usage("--watch: %w", err)
		}
		for _, file := range files {
			if err := g.judgeWatched(ctx, file); err != nil {
				return err
			}
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return &exit{status: exitInterrupted}
		}
	}
}

// judgeWatched judges one watched file and prints a line. A file whose name lacks a
// required parameter is ignored.
func (g *gatekeeper) judgeWatched(ctx context.Context, file string) error {
	if _, ok := named(g.name, file, g.with); !ok && g.cascade == nil {
		return nil
	}
	j, err := g.judgeFile(ctx, file)
	if err != nil {
		j = judgement{file: file, err: err}
	}
	reason := j.verdict.Reason
	if j.err != nil {
		reason = j.err.Error()
	}
	_, err = fmt.Fprintf(g.Stdout, "%s  %-7s  %s  %s\n", reports.Clock(time.Now()), j.word(), file, oneLine(reason))
	return err
}
