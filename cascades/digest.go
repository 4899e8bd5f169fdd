package cascades

import (
	"fmt"

	"github.com/seed61713e19/capstan/runner/signatures"
)

// digest returns the digest of the canonical form of a plain value.
func digest(v map[string]any) (string, error) {
	text, err := signatures.Canonical(unambiguous(v))
	if err != nil {
		return "", err
	}
	return signatures.Digest(text), nil
}

// unambiguous returns a value in which numbers that JSON readers may read differently are text.
func unambiguous(v any) any {
	return replaced(v, func(v any) any {
		if signatures.Unambiguous(v) != nil {
			return fmt.Sprint(v)
		}
		return v
	})
}
