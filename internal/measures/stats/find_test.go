package stats_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// TestFindUnreadable checks that unreadable evidence counts as missing, with the reason.
func TestFindUnreadable(t *testing.T) {
	locked := func(string) ([]byte, error) { return nil, fs.ErrPermission }
	for want, open := range map[string]func(string) ([]byte, error){"there are no files here": nil, fs.ErrPermission.Error(): locked} {
		if _, file, problem := (stats.Gate{Name: "gate", Phase: "a", Moment: "post"}).Find(open); file != "" || !strings.Contains(problem, want) {
			t.Errorf("got %q, %q, want %q", file, problem, want)
		}
	}
}
