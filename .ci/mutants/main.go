// Mutants plants small faults in the code, one at a time, and runs the tests: a
// negated condition, a deleted statement, a limit changed by one. A fault that
// no test detects is a survivor, and is printed with its place and its change.
//
//	go run ./.ci/mutants engine                 each name has its suites, see rooms.go
//	go run ./.ci/mutants -n 70 -seed 3 cascades 70 random faults
//	go run ./.ci/mutants -only flow.go engine   those of one file, or of one function: flow.go:next
//	go run ./.ci/mutants -list engine           list the faults; without a name, of all
//
// Mutants does not change the working tree: changed files are an overlay (go
// build -overlay). One program has all faults, each in a copy of its function,
// and a file selects one. A fault that does not compile is ignored. If the
// tests do not end, the fault counts as detected. It is reported as endless,
// since tests are slow on a busy machine. The file equivalent.txt lists
// survivors that do not change the behaviour, with the reason. They are not
// planted.
//
// The exit status is 1 if a fault survived.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	n := flag.Int("n", 0, "plant so many, drawn by chance; 0 plants all")
	seed := flag.Uint64("seed", 1, "what the chance begins with")
	only := flag.String("only", "", "FILE or FILE:FUNCTION; several with commas")
	list := flag.Bool("list", false, "print them and plant none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	survivors, asked := 0, flag.Args()
	if len(asked) == 0 && *list {
		asked = names()
	}
	for _, name := range asked {
		r, ok := rooms[name]
		if !ok {
			fail(fmt.Errorf("no room %q: there are %s", name, strings.Join(names(), ", ")))
		}
		all, err := mutantsOf(r, *only)
		if err != nil {
			fail(err)
		}
		if *n > 0 && *n < len(all) {
			chance := rand.New(rand.NewPCG(*seed, 0))
			chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			all = all[:*n]
		}
		if *list {
			for _, m := range all {
				fmt.Println(m)
			}
			continue
		}
		left, err := plant(ctx, name, r, all)
		if err != nil {
			fail(err)
		}
		survivors += left
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "mutants:", err)
	os.Exit(2)
}

// mutantsOf returns the faults that change the behaviour of a room.
func mutantsOf(r room, only string) ([]mutant, error) {
	var all []mutant
	for _, pattern := range r.files {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("no file is %s: run this at the top of the repository (%v)", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			found, err := mutantsIn(file)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	same, err := equivalents(".ci/mutants/equivalent.txt")
	if err != nil {
		return nil, err
	}
	for key := range same {
		if file, _, _ := strings.Cut(key, ":"); slices.ContainsFunc(all, func(m mutant) bool { return m.file == file }) &&
			!slices.ContainsFunc(all, func(m mutant) bool { return m.key() == key }) {
			return nil, fmt.Errorf("equivalent.txt names unknown mutants: %s", key)
		}
	}
	all = slices.DeleteFunc(all, func(m mutant) bool {
		return same[m.key()] || only != "" && !slices.ContainsFunc(strings.Split(only, ","), m.in)
	})
	return all, nil
}

// equivalents returns the mutants in a file. A line has the mutant, two spaces,
// a hyphen and the reason.
func equivalents(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	same := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, _ := strings.Cut(line, "  - ")
		if reason == "" {
			return nil, fmt.Errorf("%s: no reason is given: %s", path, line)
		}
		same[key] = true
	}
	return same, nil
}

// plant tests each mutant and returns the number of survivors.
func plant(ctx context.Context, name string, r room, all []mutant) (int, error) {
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	for i := range all {
		all[i].number = i + 1
	}
	tried, err := compiled(ctx, slices.Clone(all), folder)
	if err != nil {
		return 0, err
	}
	suites, err := r.build(ctx, folder)
	if err != nil {
		return 0, err
	}
	survived, mute := 0, len(all)-len(tried)
	for i, m := range tried {
		found := passes
		for _, p := range suites {
			if found == passes {
				found, _ = p.notices(ctx, m.number)
			}
		}
		if ctx.Err() != nil { // report the results so far
			tried = tried[:i]
			break
		}
		switch found {
		case passes:
			survived++
			fmt.Printf("survived  %s\n", m)
		case endless:
			fmt.Printf("endless   %s\n", m)
		}
		fmt.Fprintf(os.Stderr, "%s: %d of %d, %d survived\r", name, i+1, len(tried), survived)
	}
	fmt.Printf("%s: %d of %d killed (%.1f %%), %d do not compile\n", name, len(tried)-survived, len(tried),
		100-100*float64(survived)/float64(max(len(tried), 1)), mute)
	return survived, ctx.Err()
}
