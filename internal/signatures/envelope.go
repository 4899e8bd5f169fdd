package signatures

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/clips"
)

// A Signer makes Ed25519 signatures. It is a [Key], or a program or device with a secret key.
type Signer interface {
	// ID returns the id of the public key, see [ID].
	ID() string
	// SignBytes returns the 64 bytes of a signature over data.
	SignBytes(data []byte) ([]byte, error)
}

// Seal returns a DSSE envelope with a signed payload: one line of canonical
// JSON with exactly one signature, and a line end.
func Seal(s Signer, as Purpose, payload []byte) ([]byte, error) {
	raw, err := s.SignBytes(PreAuthEncoding(as, payload))
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	e := envelope{
		PayloadType: string(as), Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{KeyID: s.ID(), Sig: base64.StdEncoding.EncodeToString(raw)}},
	}
	text, err := encode(e)
	return append(text, '\n'), err
}

// envelope is the envelope of DSSE. The type of the library would also link its
// verifiers and all of SSH. A test compares the two.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// A Flaw is the first invalid field of an envelope or of its content, as a JSON
// path.
type Flaw struct {
	Field string
	Err   error
	// Unreadable is true if the text is not an envelope at all, so that nothing
	// is known about its content.
	Unreadable bool
}

// Error returns the field and its error.
func (f *Flaw) Error() string { return f.Field + " " + f.Err.Error() }

// Unwrap returns the error.
func (f *Flaw) Unwrap() error { return f.Err }

// errCutOff is the error for an envelope without the line end that [Seal]
// writes last.
var errCutOff = errors.New("is cut off: it does not end with the line end that follows every envelope")

// Open verifies an envelope and returns its payload and the id of the key in ks
// that signed it. It accepts only the exact bytes that [Seal] writes. A
// truncated envelope is unreadable, even if only the line end is missing. The
// error is a *[Flaw].
func (ks Keys) Open(as Purpose, envelope []byte) (payload []byte, id string, err error) {
	line, whole := bytes.CutSuffix(envelope, []byte("\n"))
	e, err := parseEnvelope(line)
	if err != nil {
		return nil, "", err
	}
	if !whole {
		return nil, "", &Flaw{Field: "envelope", Err: errCutOff, Unreadable: true}
	}
	wrong := func(field, format string, args ...any) ([]byte, string, error) {
		return nil, "", &Flaw{Field: field, Err: fmt.Errorf(format, args...)}
	}
	if e.PayloadType != string(as) {
		return wrong("payloadType", "is %q, not %q", clips.Bytes(e.PayloadType, 80), as)
	}
	if n := len(e.Signatures); n != 1 {
		return wrong("signatures", "are %d, not exactly one", n)
	}
	s := e.Signatures[0]
	payload, ok := plainBase64(e.Payload)
	if !ok {
		return wrong("payload", "is not in the one spelling of standard base64")
	}
	key, ok := ks[s.KeyID]
	if !ok {
		return wrong("signatures[0].keyid", "%w: %q", ErrUntrusted, clips.Bytes(s.KeyID, 80))
	}
	raw, ok := plainBase64(s.Sig)
	if !ok {
		return wrong("signatures[0].sig", "is not in the one spelling of standard base64")
	}
	if err := verify(key, as, payload, raw); err != nil {
		return wrong("signatures[0].sig", "%w", err)
	}
	return payload, s.KeyID, nil
}

// parseEnvelope parses an envelope. It accepts only one spelling. Encoding the result
// must give the same text, so an envelope with repeated, added or differently written
// keys is rejected.
func parseEnvelope(text []byte) (e envelope, err error) {
	if err = json.Unmarshal(text, &e); err == nil {
		var again []byte
		if again, err = encode(e); err == nil && bytes.Equal(again, text) {
			return e, nil
		}
	}
	canonical, wrong := CanonicalText(text)
	switch {
	case wrong != nil:
		return e, &Flaw{Field: "envelope", Err: fmt.Errorf("is not one JSON object: %w", wrong), Unreadable: true}
	case !bytes.Equal(canonical, text):
		return e, &Flaw{Field: "envelope", Err: errors.New("is not in its original form: want canonical JSON (RFC 8785) in one line")}
	case err != nil:
		return e, &Flaw{Field: "envelope", Err: fmt.Errorf("is no DSSE envelope: %w", err), Unreadable: true}
	}
	return e, &Flaw{Field: "envelope", Err: errors.New("is no DSSE envelope: want payload, payloadType and signatures"), Unreadable: true}
}

// encode returns the only spelling of an envelope, without its line end.
func encode(e envelope) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	v := jsontext.Value(text)
	return v, v.Canonicalize()
}

// plainBase64 decodes the only spelling of standard base64. The decoder ignores
// line ends and padding bits, so encoding the result must give the same text.
func plainBase64(text string) ([]byte, bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != text {
		return nil, false
	}
	return raw, true
}
