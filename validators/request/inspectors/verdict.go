package inspectors

import (
	"fmt"

	"github.com/seed61713e19/capstan/validators/request"
)

// conclude returns the verdict of the results and a summary.
func conclude(results []request.Result) (request.Verdict, string) {
	var statuses []request.Verdict
	count := map[request.Verdict]int{}
	for _, r := range results {
		statuses = append(statuses, r.Status)
		count[r.Status]++
	}
	return request.Overall(statuses), fmt.Sprintf("of %d criteria %d hold, %d do not hold and %d could not be decided",
		len(results), count[request.Pass], count[request.Fail], count[request.Blocked]+count[request.Skip])
}
