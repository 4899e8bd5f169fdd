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
)

// pause is between two looks at a watched directory. Looking is what works on
// every file system, those of the network too.
const pause = 500 * time.Millisecond

// texts are the files that watching looks at.
var texts = []string{".md", ".markdown", ".txt"}

// A watcher finds the files of a directory, and of those in it, that are new or
// changed. A file counts once two looks have found it the same, so that one
// being written is not judged by half.
type watcher struct {
	dir     string
	seen    map[string]stamp // at the last look
	settled map[string]stamp // given out
}

type stamp struct {
	size int64
	time time.Time
}

func newWatcher(dir string) *watcher {
	return &watcher{dir: dir, seen: map[string]stamp{}, settled: map[string]stamp{}}
}

// look gives the files that have settled since the last one, in their order by
// name. What cannot be read is looked at again the next time.
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

// watch judges each file as it appears or changes, a line each, until it is
// interrupted.
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
			if err := g.tell(ctx, file); err != nil {
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

// tell judges one watched file and prints a line. A file whose name does not
// say what the gate needs is none of the gate's.
func (g *gatekeeper) tell(ctx context.Context, file string) error {
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
	_, err = fmt.Fprintf(g.Stdout, "%s  %-7s  %s  %s\n", time.Now().Format(time.TimeOnly), j.word(), file, oneLine(reason))
	return err
}
