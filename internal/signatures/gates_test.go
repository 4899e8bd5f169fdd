package signatures_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/signatures"
)

// TestGateDemand checks that the text of a demand parses to the same demand.
func TestGateDemand(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0f", 32)
	for text, want := range map[string]signatures.GateDemand{
		"gate": {Name: "gate"}, "gate=" + digest: {Name: "gate", Digest: digest}, "a=b=" + digest: {Name: "a=b", Digest: digest}, "a=b": {Name: "a=b"},
	} {
		if got, err := signatures.ParseGateDemand(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"": "the name of a gate", "=" + digest: "the name of a gate", "gate=": "the name of a gate", "gate=sha256:0f": "64 hexadecimal digits"} {
		if _, err := signatures.ParseGateDemand(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
