package signatures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
)

// A Trust is a set of trusted keys with their validity periods.
type Trust struct {
	Keys  Keys
	Terms map[string]Term // by key id; a key without one is always valid
}

// A Term is the validity period of a key: from From, before Until. A zero time
// means no limit.
type Term struct {
	Name        string
	From, Until time.Time
}

// trustFormat is the format in a file of trusted keys.
const trustFormat = "capstan.keys/1"

// ParseTrust parses trusted keys: public keys in PEM, see [ParseKeys], or a JSON object
//
//	{"format": "capstan.keys/1", "keys": [{"name": "2026", "public": "-----BEGIN PUBLIC KEY…", "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}]}
//
// The keys "name", "from" and "until" are optional.
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
	if err := decodeStrict(text, &file, "format", "keys"); err != nil {
		return none, fmt.Errorf("trusted keys: %w", err)
	}
	if file.Format != trustFormat {
		return none, fmt.Errorf("trusted keys: format is %q, not %q", clips.Bytes(file.Format, 80), trustFormat)
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

// decodeStrict decodes an object. It accepts only the listed keys, and compares their case. The
// decoder of encoding/json would also accept UNTIL instead of until.
func decodeStrict(text []byte, into any, keys ...string) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(keys, name) {
			return fmt.Errorf("there is no key %q", clips.Bytes(name, 80))
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
	if err := decodeStrict(raw, &entry, "name", "public", "from", "until"); err != nil {
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

// SignedBytes reports whether a signature over data is valid under the key with
// the id.
func (ks Keys) SignedBytes(id string, data, signature []byte) bool {
	key, ok := ks[id]
	return ok && verifies(key, data, signature)
}

// InUse returns nil if the key was valid at that time, or else an error.
func (t Trust) InUse(id string, at time.Time) error {
	term := t.Terms[id]
	switch {
	case !term.From.IsZero() && at.Before(term.From):
		return fmt.Errorf("is earlier than %s, the start of the trust in its key", term.From.UTC().Format(time.RFC3339))
	case !term.Until.IsZero() && !at.Before(term.Until):
		return fmt.Errorf("is not earlier than %s, the end of the trust in its key", term.Until.UTC().Format(time.RFC3339))
	}
	return nil
}
