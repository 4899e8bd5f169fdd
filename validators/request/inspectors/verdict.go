package inspectors

import (
	"fmt"

	"github.com/seed61713e19/capstan/validators/request"
)

// conclude says what results come to, and in words.
func conclude(results []request.Result) (request.Verdict, string) {
	var statuses []request.Status
	count := map[request.Status]int{}
	for _, r := range results {
		statuses = append(statuses, r.Status)
		count[r.Status]++
	}
	return request.Overall(statuses), fmt.Sprintf("of %d criteria %d hold, %d do not hold and %d could not be decided",
		len(results), count[request.Passed], count[request.Failed], count[request.Unreachable]+count[request.Skipped])
}
