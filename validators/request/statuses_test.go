package request_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

func TestAPIStatuses(t *testing.T) {
	for _, c := range []struct {
		criterion string
		statuses  []int
		good      bool
	}{
		{"GET /items returns 200", []int{200}, true},
		{"GET /items returns 200", []int{500}, false},
		{"GET /items returns 200", []int{404}, false},
		{"GET /items returns 200", []int{200, 500}, false},
		{"GET /items returns 200", []int{201}, false},
		{"POST /items answers with status 201", []int{201, 200}, true},
		{"POST /items answers with status 201", []int{200}, false},
		{"GET /items lists the items", []int{200}, true},
		{"GET /items lists the items", []int{204}, true},
		{"GET /items lists the items", []int{500}, false},
		{"GET /items lists the items", []int{401}, false},
		{"GET /items lists the items", []int{302}, false},
		{"GET /items lists the items", []int{302, 200}, true},
		{"GET /items lists the items", []int{302, 404}, false},
		{"/items redirects to the login", []int{302}, true},
		{"a wrong password at /items is refused", []int{401}, true},
		{"a wrong password at /items is refused", []int{500}, false},
		{"/items without a token answers 401", []int{401}, true},
		{"/items without a token answers 401", []int{200}, false},
		{"/items without a token answers 401 or 403", []int{403}, true},
		{"/items without a token answers 4xx", []int{422}, true},
		{"/items without a token answers 4xx", []int{200}, false},
		{"/items answers 500 when the database is down", []int{500}, true},
		{"/items answers within 200 ms", []int{200}, true},
		{"/items answers within 500 ms", []int{500}, false},
		{"/items returns 100 items", []int{200}, true},
		{"the service is up", []int{503}, false},
		{"GET /item returns 200, and so does /items", []int{200}, true},
		// A number in a path or of something else is no status …
		{"Item 404 can be fetched from /items/404", []int{200}, true},
		{"Fetching /items/203 should give the item", []int{200}, true},
		{"The item /items/410/parts is shown", []int{200}, true},
		{"The default page size of /items is 250", []int{200}, true},
		{"The page size of /items must be 400", []int{200}, true},
		{"GET /items returns a 256-bit key", []int{200}, true},
		{"GET /items returns a 512-bit key", []int{200}, true},
		{"The score of /items must be 100", []int{200}, true},
		{"GET /items returns 150 kg", []int{200}, true},
		{"GET /items returns 400 kg", []int{200}, true},
		{"GET /items?limit=400 returns at most that many", []int{200}, true},
		{"Version 3.200 is served at /items", []int{201}, true},
		{"/items has a limit of 400", []int{200}, true},
		{"/items, limit: 400", []int{200}, true},
		// … and what is called one, or given as the answer, is.
		{"GET /items/404 returns 404", []int{200}, false},
		{"GET /items/404 returns 404", []int{404}, true},
		{"/items answers 401/403 to a stranger", []int{403}, true},
		{"/items answers 401/403 to a stranger", []int{404}, false},
		{"/items has status code 299", []int{299}, true},
		{"/items has status code 299", []int{200}, false},
		{"the status of /items is one of 201, 202", []int{202}, true},
		{"the status of GET /items is 404", []int{200}, false},
		{"/items -> status must be 404", []int{200}, false},
		{"/items → 404", []int{404}, true},
		{"/items: 404", []int{404}, true},
		{"The site has a 404 page at /items", []int{404}, true},
		{"/items answers with a `404`.", []int{200}, false},
		{"the response of /items: HTTP/1.1 404", []int{200}, false},
		// A refusal is asked for by what one is needed for, too.
		{"The endpoint /items requires authentication", []int{401}, true},
		{"The endpoint /items requires authentication", []int{404}, false},
		{"The endpoint /items requires authentication", []int{500}, false},
		{"GET /items is protected by a login", []int{401}, true},
		{"Only admins may call /items", []int{403, 200}, true},
		{"A deleted item is gone from /items", []int{204, 404}, true},
		{"A deleted item is gone from /items", []int{500}, false},
		{"An item is deleted by DELETE /items", []int{404}, false},
		{"The deleted items are listed at /items", []int{404}, false},
		{"The old API /items is retired", []int{410}, true},
		{"The old API /items is retired", []int{401}, false},
		{"POST /items validates its input", []int{422}, true},
		{"POST /items validates its input", []int{404}, false},
		{"GET /items lists the valid inputs", []int{422}, false},
		{"/items must not be reachable for guests", []int{403}, true},
		{"Guests cannot open /items", []int{403}, true},
		{"Guests must log in to see /items", []int{401}, true},
		{"Only logged-in users can see /items", []int{401}, true},
		{"The list at /items does not show deleted ones", []int{404}, false},
		{"/items does not time out", []int{404}, false},
		{"Names at /items are unique", []int{409}, true},
		{"Names at /items are unique", []int{404}, false},
		{"The name of /items is required", []int{422}, true},
		{"/items is disabled in production", []int{404}, true},
		{"The socket /items is upgraded", []int{101}, true},
		// A status may be named as what must not come …
		{"/items must not answer with 5xx", []int{200}, true},
		{"/items must not answer with 5xx", []int{503}, false},
		{"/items never returns a 500", []int{200}, true},
		{"/items never returns a 500", []int{500}, false},
		{"/items no longer returns 404", []int{200}, true},
		{"/items no longer returns 404", []int{404}, false},
		{"/items doesn't return 404 or 500", []int{200}, true},
		{"/items doesn't return 404 or 500", []int{500}, false},
		{"No request of /items returns 500", []int{200}, true},
		{"No request of /items returns 500", []int{500}, false},
		{"/items returns 200 instead of 500", []int{200}, true},
		{"/items returns 200 instead of 500", []int{200, 500}, false},
		{"/items returns 200 (was 404)", []int{200}, true},
		{"/items must return 200 and never 500", []int{500}, false},
		{"/items avoids 5xx", []int{200}, true},
		{"/items takes bad input without returning 500", []int{400}, true},
		{"/items takes bad input without returning 500", []int{500}, false},
		{"The error rate (5xx) of /items stays below 1%", []int{200}, true},
		// … and what is missing, or is not, may be what it comes from.
		{"/items returns 5xx when the database is down", []int{200}, false},
		{"Who is not logged in gets 401 from /items", []int{401}, true},
		{"Who is not logged in gets 401 from /items", []int{200}, false},
		{"No body at /items returns 400", []int{400}, true},
		{"No body at /items returns 400", []int{200}, false},
		{"/items not found → 404", []int{404}, true},
		// It is written in many ways.
		{"A 400 is returned by /items for an empty body", []int{400}, true},
		{"A 400 is returned by /items for an empty body", []int{200}, false},
		{"404 for unknown /items", []int{200}, false},
		{"Unknown /items produce 404 Not Found", []int{200}, false},
		{"/items/{id} returns 200 for a known one and 404 otherwise", []int{200, 404}, true},
		{"/items/{id} returns 200 for a known one and 404 otherwise", []int{200, 500}, false},
		{"GET /items → **404**", []int{404}, true},
		{"| GET /items | 404 |", []int{404}, true},
		{"GET /items: response.status === 404", []int{404}, true},
		{"/items: status code must equal 418", []int{418}, true},
		{"/items lehnt einen leeren Namen mit 400 ab", []int{201}, false},
		{"GET /items renvoie 404 si absent", []int{404}, true},
		{"/items returns at most 404 rows for each page", []int{200}, true},
		{"GET /items returns 200", []int{0}, true},
		{"GET /items returns 200", []int{99}, false},
		{"GET /items returns 200", []int{-1}, false},
	} {
		r := ask("a")
		r["acceptance_criteria"] = []any{object{"id": "a", "description": c.criterion}}
		var list []any
		for _, s := range c.statuses {
			o := object{"endpoint": "/items", "method": "GET"}
			if s != 0 {
				o["status_code"] = s
			}
			list = append(list, o)
		}
		j := request.Judge(asked(t, r), answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"api_responses": list}})), request.Options{})
		if (j.Effective == request.Pass) != c.good {
			t.Errorf("%s, %v: %s %s", c.criterion, c.statuses, j.Effective, j.Reason)
		}
	}
}

// What one criterion names, by the status, the method or the path, is not held
// against another.
func TestAPIStatusesOfSeveral(t *testing.T) {
	for _, c := range []struct{ criteria, answers, statuses string }{
		{"GET /items returns 200; GET /nothing returns 404", "GET http://localhost:1/items?x=1 200; GET /nothing 404", "a=PASS b=PASS"},
		{"GET /items returns 200; GET /nothing returns 404", "GET http://localhost:1/items?x=1 500; GET /nothing 404", "a=BLOCKED b=PASS"},
		{"GET /items returns 200; GET /nothing returns 404", "GET http://localhost:1/items?x=1 200; GET /nothing 200", "a=PASS b=BLOCKED"},
		{"GET /items returns 200; DELETE /items returns 405", "GET /items 200; DELETE /items 405", "a=PASS b=PASS"},
		{"GET /items returns 200; POST /items returns 201", "GET /items 500; POST /items 201", "a=BLOCKED b=PASS"},
		{"POST /items returns 201; the list is shown", "GET /items 500", "a=BLOCKED b=PASS"},
		{"POST /login with the right password returns 200; POST /login with a wrong one returns 401", "POST /login 200; POST /login 401", "a=PASS b=PASS"},
		{"POST /login with the right password returns 200; POST /login with a wrong one returns 401", "POST /login 200", "a=PASS b=BLOCKED"},
		{"POST /login with the right password returns 200; POST /login with a wrong one returns 401", "POST /login 401", "a=BLOCKED b=PASS"},
		{"POST /login with the right password returns 200; POST /login with a wrong one returns 401", "POST /login 500; POST /login 401", "a=BLOCKED b=BLOCKED"},
		{"POST /login logs in; POST /login refuses a wrong password", "POST /login 302; POST /login 401", "a=PASS b=PASS"},
		{"POST /login logs in; POST /login refuses a wrong password", "POST /login 401", "a=BLOCKED b=PASS"},
		{"Users can be listed; unknown users give 404", "GET /users 200; GET /users/9 404", "a=PASS b=PASS"},
		{"Users can be listed; unknown users give 404", "GET /users 500; GET /users/9 404", "a=BLOCKED b=BLOCKED"},
	} {
		ids, criteria := []string{"a", "b"}, []any{}
		for i, said := range strings.Split(c.criteria, "; ") {
			criteria = append(criteria, object{"id": ids[i], "description": said})
		}
		var list []any
		for said := range strings.SplitSeq(c.answers, "; ") {
			words := strings.Fields(said)
			status, _ := strconv.Atoi(words[2])
			list = append(list, object{"method": words[0], "endpoint": words[1], "status_code": status})
		}
		given := with(answer("PASS", "a", "PASS", "b", "PASS"), object{"evidence_collected": object{"api_responses": list}})
		if j := request.Judge(asked(t, with(ask("a", "b"), object{"acceptance_criteria": criteria})), answered(t, given), request.Options{}); statuses(j) != c.statuses {
			t.Errorf("%s, %s: %s (%s)", c.criteria, c.answers, statuses(j), j.Reason)
		}
	}
}
