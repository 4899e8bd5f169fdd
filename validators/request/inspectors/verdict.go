package inspectors

import (
	"fmt"

	"github.com/seed61713e19/capstan/validators/request"
)

// verdict is what results come to: all PASS is PASS; some PASS, some FAIL and
// nothing open is PARTIAL; any other FAIL is FAIL; everything else is BLOCKED.
func verdict(results []request.Result) request.Verdict {
	count := tally(results)
	passed, failed := count[request.Passed], count[request.Failed]
	switch {
	case passed > 0 && passed == len(results):
		return request.Pass
	case passed > 0 && failed > 0 && passed+failed == len(results):
		return request.Partial
	case failed > 0:
		return request.Fail
	}
	return request.Blocked
}

func tally(results []request.Result) map[request.Status]int {
	count := map[request.Status]int{}
	for _, r := range results {
		count[r.Status]++
	}
	return count
}

func reasoning(results []request.Result) string {
	count := tally(results)
	return fmt.Sprintf("of %d criteria %d hold, %d do not hold and %d could not be decided",
		len(results), count[request.Passed], count[request.Failed], count[request.Unreachable]+count[request.Skipped])
}
