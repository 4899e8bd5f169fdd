package inspectors

import (
	"fmt"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/validators/request"
)

// count reads what a program said of tests, as [request.Tests] knows it.
func count(out process.Output) request.Tally {
	return request.Tests(string(out.Stdout) + "\n" + string(out.Stderr))
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
