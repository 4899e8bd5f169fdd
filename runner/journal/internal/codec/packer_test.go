package codec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Packed data is read unchanged, whatever it contains.
func FuzzPack(f *testing.F) {
	f.Add("a", "b", 1)
	f.Add(`#text:`, `"#text:`, 600)
	f.Add(`\"#text:0000`, "\x00\xff\u2028<&>", 512)
	f.Add("#text:6170706c65", `\`, 300)
	f.Add("é", "\ufffd", 255)
	f.Fuzz(func(t *testing.T, a, b string, n int) {
		n = max(n, -n) % 700
		value := map[string]any{"a": a, b: []any{b, strings.Repeat(a, n), n}, "c": map[string]any{strings.Repeat(b, n%50): strings.Repeat(`"\`, n)}}
		plainText, err := encodings.Of(value)
		if err != nil {
			t.Fatal(err)
		}
		want, err := schema.Parse(plainText)
		if err != nil {
			t.Fatal(err)
		}
		var p Packer
		packed, err := p.Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(packed) || len(packed) > 12*(len(a)+len(b)+2*LongText+100) {
			t.Errorf("packed %d bytes to %d: %s", len(plainText), len(packed), packed)
		}
		texts := map[Digest]string{}
		for _, text := range p.Texts {
			texts[text.Digest] = text.Text
		}
		raw, err := InsertTexts(packed, func(d Digest) (string, error) { return texts[d], nil })
		if err == nil {
			raw, err = RedactedView.Read(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := schema.Parse(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %#v, %v\nwant %#v", got, err, want)
		}
	})
}

// A redacted text contains no secrets, redacting it again changes nothing, and
// it can be restored.
func FuzzRedact(f *testing.F) {
	f.Add("a secretive text", "secretive")
	f.Add(`{"a": "pa\"ssword"}`, `pa"ssword`)
	f.Add("aaaaaaaaaaaaa", "aaaaaaaa")
	f.Add("\xff\u2028 and more", "\u2028 and more")
	f.Add("[redacted NAME]\u2060 is not 12345678", "12345678")
	f.Add("12345678\u2060", "12345678")
	f.Add("pa\"ssword\u2060\u2061\u2060[redacted NAME]\u2060\u2061\u2060", `pa"ssword`)
	f.Fuzz(func(t *testing.T, text, secret string) {
		if utf8.RuneCountInString(secret) < minSecret || strings.Contains("[redacted NAME]", secret) || strings.ToValidUTF8(secret, "") != secret {
			return
		}
		s := NewSecrets(map[string]string{"NAME": secret})
		raw, err := encodings.Of(map[string]any{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(s.Clean(raw), &got); err != nil {
			t.Fatal(err)
		}
		// A secret may arise where two pieces meet.
		if words := strings.ReplaceAll(got["text"], "[redacted NAME]", "\x01"); strings.Contains(words, secret) && !strings.Contains(secret, "\x01") {
			t.Errorf("%q has %q", got["text"], secret)
		}
		// A reader with the secret gets the text except its own seals, and other
		// readers get marks.
		var valid, back map[string]string
		if err := json.Unmarshal(UnsealJSON(raw), &valid); err != nil {
			t.Fatal(err)
		}
		again, err := s.RestoredView().Read(s.Redact(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &back); err != nil || back["text"] != valid["text"] {
			t.Errorf("%q came back as %q, %v", valid["text"], back["text"], err)
		}
		if again := s.Clean(s.Clean(raw)); !bytes.Equal(again, s.Clean(raw)) && !strings.Contains(got["text"], secret) {
			t.Errorf("%s redacted again is %s", s.Clean(raw), again)
		}
	})
}
