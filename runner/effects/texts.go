package effects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Texts keep texts under their digests, each once. They are safe for concurrent
// use, by several processes too.
type Texts interface {
	// Put keeps a text. One that is kept already costs little.
	Put(text []byte) (digest string, err error)
	// Get gives the text of a digest, or an error: there is none, or it is damaged.
	Get(digest string) ([]byte, error)
}

// Digest names a text: the SHA-256 of its bytes, in hexadecimal digits.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// longText is how many bytes a string of an effect has that travels by reference.
const longText = 1 << 10

// The members of the object that stands for a long string, and for an object that
// looks like one.
const (
	textMember  = "capstan:text"
	plainMember = "capstan:plain"
)

// Encode gives the JSON of an effect, or of what came of one, to be read with
// [Decode], and of an effect with [Effect.Follow], by whoever has the same texts.
// What a conversation has said before, and every long string, is in the texts.
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

// Decode reads what [Encode] gave.
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

// Follow puts back what a model's request says by reference; talks remember it.
func (e *Effect) Follow(from Texts, talks *model.Talks) error {
	if e.Request == nil {
		return nil
	}
	return talks.Follow(e.Request, from.Get, schema.Unmarshal)
}

// refer puts the long strings of a plain value into the texts.
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

// standsFor tells of an object that looks like one that stands for another value.
func standsFor(v map[string]any) bool {
	_, text := v[textMember]
	_, plain := v[plainMember]
	return len(v) == 1 && (text || plain)
}

// follow puts the long strings back.
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
