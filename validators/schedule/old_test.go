package schedule

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// TestOldCertificates checks that certificates of the first format are refused, with a
// reason. They did not bind the week, the page type or the policy. One is signed by
// capstan with a key that is still trusted. A newline in its signature once made it a
// different certificate. Another contains the text of a program that signed nothing.
func TestOldCertificates(t *testing.T) {
	s := paperScene(t)
	good := s.certify(t, vectorWeek())
	signed := oldCertificate(t, "old.json")
	key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{7}, ed25519.SeedSize))
	rest := copied(t, signed)
	delete(rest, statements.SignatureField)
	spelt := "ed25519:" + base64.StdEncoding.EncodeToString(ed25519.Sign(key, statements.Append([]byte("capstan schedule certificate\n"), rest)))
	if signed[statements.SignatureField] != spelt || signed["schedule_hash"] != good["validation_certificate"].(map[string]any)["schedule_hash"] {
		t.Fatalf("the old certificate is not what was signed then of these items: want %s", spelt)
	}
	newline := copied(t, signed)
	newline[statements.SignatureField] = spelt + "\n"
	renamed := copied(t, signed)
	renamed[statements.VersionField] = statements.Version
	for name, row := range map[string]struct {
		old   map[string]any
		words string
	}{
		"signed":               {signed, "is 1.0: that format binds neither week nor page type, policy, database nor what the gates said; have the schedule certified again"},
		"with a newline":       {newline, "is 1.0: that format binds neither week"},
		"that nobody signed":   {oldCertificate(t, "older.json"), "is 1.0: that format binds neither week"},
		"in the new's clothes": {renamed, ""},
	} {
		own := copied(t, good)
		own["validation_certificate"] = row.old
		s.w = own
		v := s.certificate()
		if v.Valid || !strings.Contains(v.Reason, row.words) {
			t.Errorf("%s: %v, %s", name, v.Valid, v.Reason)
		}
		if strings.Contains(row.words, "1.0") && !slices.Equal(codes(v), []string{"INVALID_FORMAT"}) {
			t.Errorf("%s: %v", name, codes(v))
		}
	}
}

func oldCertificate(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, file))
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}
