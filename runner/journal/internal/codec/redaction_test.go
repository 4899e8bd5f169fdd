package codec

import (
	"encoding/json"
	"strings"
	"testing"
)

// A JSON text stays JSON for people, and is unchanged for the run.
func TestSecretNumberInText(t *testing.T) {
	s := NewSecrets(map[string]string{"PIN": "12345678", "RATE": "1.50000000"})
	for _, words := range []string{
		`{"pin": 12345678, "list": [123456789, -12345678.5]}`, "[12345678]", ` {"rate": 1.50000000, "text": "12345678"}`, "{12345678}", "pin 12345678",
	} {
		stored := s.redactText(words)
		if json.Valid([]byte(words)) && !json.Valid([]byte(Unseal(stored))) {
			t.Errorf("%s is shown as %s", words, Unseal(stored))
		}
		if strings.Contains(stored, "12345678") || strings.Contains(stored, "1.50000000") {
			t.Errorf("%s is stored as %s", words, stored)
		}
		if got := s.restore(stored); got != words {
			t.Errorf("%s becomes %s", words, got)
		}
	}
}
