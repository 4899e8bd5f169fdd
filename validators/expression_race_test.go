package validators

import (
	"sync"
	"testing"
)

// Expressions may be read, compiled and asked why they said no at the same time.
func TestExpressionsAtTheSameTime(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			e, err := ParseExpression("len(content) >= 5 && any(split(content, ' '), {hasPrefix(#, 'a')})")
			if err != nil {
				t.Error(err)
				return
			}
			if v, err := e.Check("")(t.Context(), Subject{Content: "bat"}); err != nil || v.Valid {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	wg.Wait()
}
