package signatures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Trust says which keys are trusted, and from when until when each was in use.
type Trust struct {
	Keys  Keys
	Terms map[string]Term // by key id; a key without one is trusted at any time
}

// A Term is when a key was in use: from From, before Until. A zero time is no
// bound.
type Term struct {
	Name        string
	From, Until time.Time
}

// trustFormat is what a file of trusted keys says it is.
const trustFormat = "capstan.keys/1"

// ParseTrust reads trusted keys: public keys in PEM, as [ParseKeys] takes them,
// or a JSON object
//
//	{"format": "capstan.keys/1", "keys": [{"name": "2026", "public": "-----BEGIN PUBLIC KEY…", "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}]}
//
// in which name, from and until may be missing.
func ParseTrust(text []byte) (Trust, error) {
	if trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, mark)); len(trimmed) > 0 && trimmed[0] == '{' {
		return parseTerms(trimmed)
	}
	keys, err := ParseKeys(text)
	return Trust{Keys: keys}, err
}

func parseTerms(text []byte) (Trust, error) {
	none := Trust{}
	if err := unambiguousText(text); err != nil {
		return none, fmt.Errorf("trusted keys: %w", err)
	}
	var file struct {
		Format string            `json:"format"`
		Keys   []json.RawMessage `json:"keys"`
	}
	if err := exactly(text, &file, "format", "keys"); err != nil {
		return none, fmt.Errorf("trusted keys: %w", err)
	}
	if file.Format != trustFormat {
		return none, fmt.Errorf("trusted keys: format is %q, not %q", clip(file.Format), trustFormat)
	}
	t := Trust{Keys: Keys{}, Terms: map[string]Term{}}
	for i, raw := range file.Keys {
		if err := t.add(raw); err != nil {
			return none, fmt.Errorf("trusted keys: keys[%d]: %w", i, err)
		}
	}
	if len(t.Keys) == 0 {
		return none, fmt.Errorf("trusted keys: the file contains none")
	}
	return t, nil
}

// exactly decodes an object that has these keys alone, letter by letter: the decoder
// of encoding/json takes Until for until.
func exactly(text []byte, into any, keys ...string) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(keys, name) {
			return fmt.Errorf("there is no key %q", clip(name))
		}
	}
	return json.Unmarshal(text, into)
}

func (t Trust) add(raw []byte) error {
	var entry struct {
		Name   string    `json:"name"`
		Public string    `json:"public"`
		From   time.Time `json:"from"`
		Until  time.Time `json:"until"`
	}
	if err := exactly(raw, &entry, "name", "public", "from", "until"); err != nil {
		return err
	}
	keys, err := ParseKeys([]byte(entry.Public))
	if err != nil {
		return err
	}
	if len(keys) != 1 {
		return fmt.Errorf("public holds %d keys, not one", len(keys))
	}
	if !entry.Until.IsZero() && !entry.From.Before(entry.Until) {
		return fmt.Errorf("until must be later than from")
	}
	for id, key := range keys {
		if t.Keys[id] != nil {
			return fmt.Errorf("the key %s stands twice", id)
		}
		t.Keys[id] = key
		t.Terms[id] = Term{entry.Name, entry.From, entry.Until}
	}
	return nil
}

// SignedBytes reports whether a signature is that of the key with the id over data.
func (ks Keys) SignedBytes(id string, data, signature []byte) bool {
	key, ok := ks[id]
	return ok && signed(key, data, signature)
}

// InUse is nil where the key was in use at that time, else it says why not.
func (t Trust) InUse(id string, at time.Time) error {
	term := t.Terms[id]
	switch {
	case !term.From.IsZero() && at.Before(term.From):
		return fmt.Errorf("is before %s, when the trust in its key begins", term.From.UTC().Format(time.RFC3339))
	case !term.Until.IsZero() && !at.Before(term.Until):
		return fmt.Errorf("is not before %s, when the trust in its key ends", term.Until.UTC().Format(time.RFC3339))
	}
	return nil
}
