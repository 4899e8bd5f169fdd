package pages

import (
	"context"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
)

// CountTrends counts a scope as the page does.
func (s *Site) CountTrends(ctx context.Context, scope Scope, f journal.Filter, until time.Time) (*TrendReport, error) {
	return s.countTrends(ctx, scope, f, until)
}
