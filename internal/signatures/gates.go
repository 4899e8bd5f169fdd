package signatures

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A GateDemand requires that a gate with the name passed the text. If Digest is set, it
// must be exactly that gate.
type GateDemand struct{ Name, Digest string }

// String returns the demand in the form of a flag.
func (g GateDemand) String() string {
	if g.Digest == "" {
		return g.Name
	}
	return g.Name + "=" + g.Digest
}

// ParseGateDemand parses name, or name=sha256: and 64 hexadecimal digits.
func ParseGateDemand(text string) (GateDemand, error) {
	g := GateDemand{Name: text}
	if i := strings.LastIndex(text, "=sha256:"); i >= 0 {
		g.Name, g.Digest = text[:i], text[i+1:]
		if err := CheckDigest(g.Digest); err != nil {
			return g, err
		}
	}
	if g.Name == "" || strings.HasSuffix(g.Name, "=") {
		return g, errors.New("there must be the name of a gate, or name=digest")
	}
	return g, nil
}

var digestForm = patterns.Lazy(`^sha256:[0-9a-f]{64}$`)

// CheckDigest returns an error for a text that is not sha256: and 64 hexadecimal digits.
func CheckDigest(text string) error {
	if !digestForm().MatchString(text) {
		return fmt.Errorf("a digest is sha256: and 64 hexadecimal digits, not %q", text)
	}
	return nil
}
