package inspectors

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/request"
)

// counts are how many tests passed, failed and were skipped, where a program
// has plainly said so.
type counts struct {
	passed, failed, skipped int
	known                   bool
	failures                bool // those that passed were not told of
}

// pytest ends with a line such as "=== 1 failed, 2 passed in 0.10s ===".
var (
	pytestLine  = patterns.Lazy(`(?m)^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s.*$`)
	pytestCount = patterns.Lazy(`(\d+) ([a-z]+)`)
	goLine      = patterns.Lazy(`(?m)^\s*--- (PASS|FAIL|SKIP): `)
)

// count reads the output of go test -v, go test -json and pytest.
func count(stdout []byte) counts {
	if c := countJSON(stdout); c.known {
		return c
	}
	if c := countPytest(stdout); c.known {
		return c
	}
	c := counts{}
	for _, m := range goLine().FindAllSubmatch(stdout, -1) {
		c.add(string(m[1]), 1)
	}
	c.failures = c.passed == 0
	return c
}

func (c *counts) add(outcome string, n int) {
	switch strings.ToLower(outcome) {
	case "pass", "passed":
		c.passed += n
	case "fail", "failed", "error", "errors":
		c.failed += n
	case "skip", "skipped":
		c.skipped += n
	default:
		return
	}
	c.known = true
}

func countJSON(stdout []byte) (c counts) {
	lines := bufio.NewScanner(bytes.NewReader(stdout))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var event struct{ Action, Package, Test string }
		if json.Unmarshal(line, &event) == nil && event.Test != "" && event.Package != "" {
			c.add(event.Action, 1)
		}
	}
	return c
}

func countPytest(stdout []byte) (c counts) {
	all := pytestLine().FindAllSubmatch(stdout, -1)
	if all == nil {
		return c
	}
	for _, m := range pytestCount().FindAllSubmatch(all[len(all)-1][1], -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			c.add(string(m[2]), n)
		}
	}
	return c
}

// into says what the counts are. A program that fails for another reason than
// a test has counts that would contradict it, and are left out.
func (c counts) into(r *request.TestResults) {
	if *r.ExitCode != 0 && c.failed == 0 {
		return
	}
	if c.known {
		r.Failed = &c.failed
	}
	if c.known && !c.failures {
		r.Passed, r.Skipped = &c.passed, &c.skipped
	}
}

func countsOf(r request.TestResults) string {
	switch {
	case r.Failed == nil:
		return ""
	case r.Passed == nil || r.Skipped == nil:
		return fmt.Sprintf("%d failed", *r.Failed)
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped", *r.Passed, *r.Failed, *r.Skipped)
}
