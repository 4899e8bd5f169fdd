// Command measure counts how many of gitleaks' fixtures package secrets finds,
// and how many false positives it reports, compared with gitleaks itself:
//
//	cd internal/secrets/measure && go run . [-show RULE]
//
// The command is a module of its own, so Capstan does not depend on gitleaks.
// Constructors of gitleaks' rules make the fixtures, some of them at random,
// and discard them. The command copies the source of the module to a temporary
// folder with a function that prints the fixtures. Fixtures that need a file's
// path are skipped. The exit status is 1 below 95 % or with more false
// positives than gitleaks.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/seed61713e19/capstan/internal/secrets"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// A fixture is a text, and whether gitleaks reports it as a credential.
type fixture struct {
	Rule, Text string
	Secret     bool
}

func main() {
	show := flag.String("show", "", "print what is missed of a rule, or `all`")
	flag.Parse()
	good, err := measure(*show)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

func measure(show string) (bool, error) {
	out, err := made()
	if err != nil {
		return false, err
	}
	var fixtures []fixture
	if err := json.Unmarshal(out, &fixtures); err != nil {
		return false, fmt.Errorf("fixtures: %w", err)
	}
	theirs, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return false, fmt.Errorf("gitleaks: %w", err)
	}
	found := func(text string) bool {
		for range secrets.In(text) {
			return true
		}
		return false
	}
	a := count(fixtures, found, show)
	b := count(fixtures, func(text string) bool { return len(theirs.DetectString(text)) > 0 }, "")
	fmt.Println("secrets: ", a)
	fmt.Println("gitleaks:", b)
	return float64(a.found) >= 0.95*float64(a.true) && a.alarms <= b.alarms, nil
}

// A tally counts the reported true and false fixtures.
type tally struct {
	true, found, false, alarms int
	took                       time.Duration
}

func (t tally) String() string {
	return fmt.Sprintf("found %d of %d (%.2f %%), false alarms %d of %d, in %v", t.found, t.true, 100*float64(t.found)/float64(t.true), t.alarms, t.false, t.took.Round(time.Millisecond))
}

func count(fixtures []fixture, finds func(string) bool, show string) tally {
	var t tally
	start := time.Now()
	for _, f := range fixtures {
		found := finds(f.Text)
		if f.Secret != found && (show == f.Rule || show == "all") {
			fmt.Printf("%s: %q, a credential: %t\n", f.Rule, f.Text, f.Secret)
		}
		switch {
		case f.Secret && found:
			t.true, t.found = t.true+1, t.found+1
		case f.Secret:
			t.true++
		case found:
			t.false, t.alarms = t.false+1, t.alarms+1
		default:
			t.false++
		}
	}
	t.took = time.Since(start)
	return t
}
