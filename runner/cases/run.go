package cases

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

// Run runs the case's cascade with every answer taken from the case. Of known
// only what is pure is used, and the descriptions.
func (c *Case) Run(ctx context.Context, known cascades.Known) Outcome {
	started := time.Now()
	o := c.run(ctx, known)
	o.Elapsed = time.Since(started)
	return o
}

func (c *Case) run(ctx context.Context, known cascades.Known) Outcome {
	o, cascade := c.again(ctx, known)
	if cascade == nil {
		return o
	}
	unmet, unmeasured, err := c.measured(ctx, cascade, o.replay)
	if err != nil {
		return broken(c.Name, c.Dir, Cancelled, err)
	}
	o.Differences, o.Unmeasured = append(o.Differences, unmet...), unmeasured
	return o
}

// again does the run again and holds it against what it was; the cascade is nil where
// that did not come to an end.
func (c *Case) again(ctx context.Context, known cascades.Known) (Outcome, *cascades.Cascade) {
	cascade, err := cascades.Load(c.beside(c.cascade), c.opener(known.Root), offline(known))
	if err != nil {
		return broken(c.Name, c.Dir, Invalid, err), nil
	}
	r := newReplay(ctx, c.effects, c.want.verdicts)
	r.ordered(c.order)
	r.open = c.programFiles(known.Root)
	r.phases, r.waits = c.want.phases, c.want.status == engine.Waiting
	result := r.run(cascade, engine.State{RunID: c.seed, Model: c.model, Input: c.input})
	if ctx.Err() != nil {
		return broken(c.Name, c.Dir, Cancelled, context.Cause(ctx)), nil
	}
	got := expected(result, r.verdicts())
	return Outcome{Name: c.Name, Dir: c.Dir, Differences: compare(c.effects, r, c.want, got), replay: r, got: got, cascade: cascade.ID}, cascade
}

// Each loads and runs the cases in the directories, as many at a time as there
// are processors, and gives each to done in the order of dirs, from one
// goroutine. A case that was not loaded is nil.
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
		return nil, broken(name, dir, Cancelled, context.Cause(ctx))
	}
	c, err := Load(dir)
	if err != nil {
		return nil, broken(name, dir, Broken, err)
	}
	return c, c.Run(ctx, known)
}

// Find gives the directories of the cases that are meant, sorted, each once: a
// directory means the case that it is, or all below it; any other word a case
// of that name in the parent directory; no word at all, every case there.
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

// casesBelow finds a case also where a link to it stands, and looks below the
// directory where that is one; other links it does not follow, they may lead round.
func casesBelow(dir string) (dirs []string, err error) {
	err = filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !isCase(name) {
			return err
		}
		dirs = append(dirs, filepath.Clean(name))
		if !d.IsDir() {
			return nil // a link, and what stands beside it is still to come
		}
		return fs.SkipDir
	})
	return dirs, err
}
