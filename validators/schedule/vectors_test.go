package schedule

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

const vectors = "testdata/certificate"

// vectorWeek returns a week for tests of the canonical form. Its items have fractions, escapes,
// additional fields, nulls, keys beyond U+FFFF, and equal times.
func vectorWeek() map[string]any {
	w := week(54)
	itemOf(w, 0)["price"] = 18.25
	itemOf(w, 1)["note"] = "tab\there, \"quoted\" \\ and </é\u2028\u007f\x01"
	itemOf(w, 2)["more"] = map[string]any{"\ufb33": 1, "\U0001F600": 2, "€": []any{nil, true, 1e-7, 0.1, 1e15 + 0.5}}
	itemOf(w, 3)["caption_id"], itemOf(w, 3)["price"] = nil, nil
	itemOf(w, 4)["scheduled_date"], itemOf(w, 4)["scheduled_time"] = itemOf(w, 3)["scheduled_date"], itemOf(w, 3)["scheduled_time"]
	itemOf(w, 5)["scheduled_date"], itemOf(w, 5)["scheduled_time"] = itemOf(w, 3)["scheduled_date"], itemOf(w, 3)["scheduled_time"]
	itemOf(w, 5)["send_type_key"] = itemOf(w, 4)["send_type_key"]
	return w
}

// TestVectors compares the files of testdata/certificate with new signatures; -update
// writes the files. Another implementation that agrees with them agrees with this one.
func TestVectors(t *testing.T) {
	s := paperScene(t)
	_, public := fixedKey(t)
	w := s.certify(t, vectorWeek())
	s.w = w
	if v := s.certificate(); !v.Valid {
		t.Fatal(v.Reason)
	}
	pretty := func(v any) []byte {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return text.Bytes()
	}
	text, err := statements.Payload(w["validation_certificate"].(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"public.pem": public, "items.json": pretty(w["items"]), "certificate.json": pretty(w["validation_certificate"]),
		"critic.json": pretty(w["critic_certificate"]), "signed.bin": signatures.PreAuthEncoding(statements.Certificate, text),
	} {
		file := filepath.Join(vectors, name)
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is signed here (%v); go test -run TestVectors -update writes it", file, err)
		}
	}
}
