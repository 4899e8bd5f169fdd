package inspectors

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/validators/request"
)

// count reads what a program said of tests: as go test -json has it, or as
// [request.Tests] knows it.
func count(out process.Output) request.Tally {
	if t := countJSON(out.Stdout); t.Told {
		return t
	}
	return request.Tests(string(out.Stdout) + "\n" + string(out.Stderr))
}

func countJSON(stdout []byte) (t request.Tally) {
	lines := bufio.NewScanner(bytes.NewReader(stdout))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var event struct{ Action, Package, Test string }
		if json.Unmarshal(line, &event) != nil || event.Test == "" || event.Package == "" {
			continue
		}
		switch event.Action {
		case "pass":
			t.Passed++
		case "fail":
			t.Failed++
		case "skip":
			t.Skipped++
		}
	}
	t.Told = t.Passed+t.Failed+t.Skipped > 0
	t.Whole = t.Told
	return t
}

// into says what the counts are. A program that fails for another reason than
// a test has counts that would contradict it, and are left out.
func into(r *request.TestResults, t request.Tally) {
	if *r.ExitCode != 0 && t.Failed == 0 {
		return
	}
	if t.Told {
		r.Failed = &t.Failed
	}
	if t.Whole {
		r.Passed, r.Skipped = &t.Passed, &t.Skipped
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
