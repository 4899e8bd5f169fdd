package testcases

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
)

// Run runs the cascade with every answer from the test case. It uses the pure validators and the
// descriptions of known.
func (c *Case) Run(ctx context.Context, known cascades.Known) Outcome {
	started := time.Now()
	o := c.run(ctx, known)
	o.Elapsed = time.Since(started)
	return o
}

func (c *Case) run(ctx context.Context, known cascades.Known) Outcome {
	o, cascade := c.repeat(ctx, known)
	if cascade == nil {
		return o
	}
	unmet, unmeasured, err := c.plantFaults(ctx, cascade, o.replay)
	if err != nil {
		return failedOutcome(c.Name, c.Dir, Cancelled, err)
	}
	o.Differences, o.Unmeasured = append(o.Differences, unmet...), unmeasured
	return o
}

// repeat replays the test case and compares the result. The cascade is nil if it did not load or
// the test was interrupted.
func (c *Case) repeat(ctx context.Context, known cascades.Known) (Outcome, *cascades.Cascade) {
	cascade, err := cascades.Load(c.beside(c.page.Cascade), c.opener(known.Root), offline(known))
	if err != nil {
		return failedOutcome(c.Name, c.Dir, Invalid, err), nil
	}
	want := c.page.Expect
	r := newReplay(ctx, c.effects, want.Verdicts)
	r.ordered(c.page.Order)
	r.open = c.programFiles(known.Root)
	r.phases, r.waits = want.Phases, want.Status == engine.Waiting
	result := r.run(cascade, engine.State{RunID: c.page.Seed, Model: c.page.Model, Input: c.input})
	if ctx.Err() != nil {
		return failedOutcome(c.Name, c.Dir, Cancelled, context.Cause(ctx)), nil
	}
	got := expected(result, r.verdicts())
	return Outcome{Name: c.Name, Dir: c.Dir, Differences: compare(c.effects, r, want, got), replay: r, got: got, cascade: cascade.ID}, cascade
}

// Each loads and runs the test cases in the folders in parallel. It calls done for each, in the
// order of dirs and from one goroutine. The Case is nil if it did not load.
func Each(ctx context.Context, dirs []string, known cascades.Known, done func(*Case, Outcome)) {
	type ran struct {
		c *Case
		o Outcome
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	results := make([]chan ran, len(dirs))
	for i := range results {
		results[i] = make(chan ran, 1)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for i, dir := range dirs {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				c, o := runDir(ctx, dir, known)
				results[i] <- ran{c, o}
			})
		}
	})
	for _, result := range results {
		r := <-result
		done(r.c, r.o)
	}
}

func runDir(ctx context.Context, dir string, known cascades.Known) (*Case, Outcome) {
	name := filepath.Base(dir)
	if ctx.Err() != nil {
		return nil, failedOutcome(name, dir, Cancelled, context.Cause(ctx))
	}
	c, err := Load(dir)
	if err != nil {
		return nil, failedOutcome(name, dir, Broken, err)
	}
	return c, c.Run(ctx, known)
}

// Find returns the folders of test cases, sorted and without duplicates. A word is a folder, which
// stands for all test cases in it, or the name of a test case in the parent folder. Without words,
// it is the parent folder.
func Find(parent string, words ...string) ([]string, error) {
	if len(words) == 0 {
		words = []string{parent}
	}
	var dirs []string
	for _, word := range words {
		if in := filepath.Join(parent, word); !isDir(word) && filepath.IsLocal(word) && isDir(in) {
			word = in
		}
		if !isDir(word) {
			return nil, fmt.Errorf("no case is called %s, and no directory", word)
		}
		below, err := casesBelow(word)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			return nil, fmt.Errorf("%s holds no case", word)
		}
		dirs = append(dirs, below...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// casesBelow returns the test cases in a folder. It follows a link to a test case, but no other
// links, because they may form a loop.
func casesBelow(dir string) (dirs []string, err error) {
	err = filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !isCase(name) {
			return err
		}
		dirs = append(dirs, filepath.Clean(name))
		if !d.IsDir() {
			return nil // the walk must go on after a link
		}
		return fs.SkipDir
	})
	return dirs, err
}
