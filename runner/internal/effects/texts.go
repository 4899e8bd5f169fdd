package effects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
)

// Texts stores texts by digest, each one once. It is safe for concurrent use,
// also by several processes.
type Texts interface {
	// Put stores a text. A text that is already stored costs little.
	Put(text []byte) (digest string, err error)
	// Get returns the text of a digest. It returns an error if the text is
	// missing or damaged.
	Get(digest string) ([]byte, error)
}

// Digest returns the name of a text: its SHA-256 in hexadecimal digits.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// longText is the minimum length of a string that is stored by reference, in
// bytes.
const longText = 1 << 10

// The members of an object that replaces a long string, or an object with the
// same members.
const (
	textMember  = "capstan:text"
	plainMember = "capstan:plain"
)

// Encode returns the JSON of an [Effect] or an [Outcome]. It stores the earlier
// messages of a conversation and every long string in the texts. [Decode] and
// [Effect.Follow] restore them from the same texts.
func Encode(v any, to Texts) ([]byte, error) {
	if e, ok := v.(Effect); ok && e.Request != nil {
		refers, err := e.Request.Refer(to.Put)
		if err != nil {
			return nil, err
		}
		e.Request = &refers
		v = e
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) < longText {
		return raw, err
	}
	value, err := schema.Parse(raw)
	if err != nil {
		return nil, err
	}
	if value, err = refer(value, to); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// Decode reads the result of [Encode].
func Decode(text []byte, from Texts, into any) error {
	value, err := schema.Parse(text)
	if err != nil {
		return err
	}
	if value, err = follow(value, from); err != nil {
		return err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return schema.Unmarshal(raw, into)
}

// Follow restores the messages of a model's request from the texts. It uses
// talks as a cache.
func (e *Effect) Follow(from Texts, talks *model.Conversations) error {
	if e.Request == nil {
		return nil
	}
	return talks.Follow(e.Request, from.Get, schema.Unmarshal)
}

// refer stores the long strings of a plain value in the texts and replaces them
// by references.
func refer(v any, to Texts) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		if len(v) < longText {
			return v, nil
		}
		digest, err := to.Put([]byte(v))
		return map[string]any{textMember: digest}, err
	case []any:
		for i := range v {
			if v[i], err = refer(v[i], to); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = refer(v[key], to); err != nil {
				return nil, err
			}
		}
		if standsFor(v) {
			return map[string]any{plainMember: v}, nil
		}
	}
	return v, nil
}

// standsFor reports whether an object has the members of a reference.
func standsFor(v map[string]any) bool {
	_, text := v[textMember]
	_, plain := v[plainMember]
	return len(v) == 1 && (text || plain)
}

// follow replaces references by their strings.
func follow(v any, from Texts) (any, error) {
	var err error
	switch v := v.(type) {
	case []any:
		for i := range v {
			if v[i], err = follow(v[i], from); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if standsFor(v) {
			if digest, ok := v[textMember].(string); ok {
				text, err := from.Get(digest)
				return string(text), err
			}
			inner, ok := v[plainMember].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("an effect: %s stands for no object", plainMember)
			}
			return inner, followIn(inner, from)
		}
		return v, followIn(v, from)
	}
	return v, nil
}

func followIn(v map[string]any, from Texts) (err error) {
	for key := range v {
		if v[key], err = follow(v[key], from); err != nil {
			return err
		}
	}
	return nil
}
