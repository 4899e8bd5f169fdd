package streams_test

import (
	"net/http/httptest"
	"testing"

	"github.com/seed61713e19/capstan/runner/serve/streams"
)

// A browser that comes back says by its header what it has had: more than the address
// of the page from which it began.
func TestAfter(t *testing.T) {
	for _, c := range []struct {
		query, header string
		want          int64
		wrong         bool
	}{
		{"", "", 0, false}, {"7", "", 7, false}, {"", "9", 9, false}, {"7", "9", 9, false},
		{"-1", "", 0, true}, {"x", "9", 0, true}, {"7", "x", 0, true},
	} {
		r := httptest.NewRequest("GET", "/?after="+c.query, nil)
		if c.header != "" {
			r.Header.Set("Last-Event-ID", c.header)
		}
		if got, err := streams.After(r); got != c.want || (err != nil) != c.wrong {
			t.Errorf("%+v: got %d (%v)", c, got, err)
		}
	}
}
