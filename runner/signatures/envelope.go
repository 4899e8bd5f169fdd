package signatures

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// A Signer makes Ed25519 signatures: a [Key], or a program or device that
// holds one and never gives it away.
type Signer interface {
	// ID names the public key, see [ID].
	ID() string
	// SignBytes gives the 64 bytes of a signature over data.
	SignBytes(data []byte) ([]byte, error)
}

// Seal puts a payload, signed for a purpose, into a DSSE envelope: one line of
// canonical JSON with exactly one signature, and a line end.
func Seal(s Signer, as Purpose, payload []byte) ([]byte, error) {
	raw, err := s.SignBytes(Signed(as, payload))
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	e := sealed{
		PayloadType: string(as), Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []signature{{KeyID: s.ID(), Sig: base64.StdEncoding.EncodeToString(raw)}},
	}
	text, err := spelt(e)
	return append(text, '\n'), err
}

// A sealed is DSSE's envelope. The library's own has its verifiers beside it, and
// these all of SSH: a test holds that both are the same.
type sealed struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// A Flaw is what is wrong with an envelope, or with what it holds: the first
// field that does not hold, as a JSON path.
type Flaw struct {
	Field string
	Err   error
	// Unreadable says that the text is no envelope at all, so that nothing can
	// be said of what it was meant to hold.
	Unreadable bool
}

// Error names the field and what is wrong with it.
func (f *Flaw) Error() string { return f.Field + " " + f.Err.Error() }

// Unwrap gives what is wrong.
func (f *Flaw) Unwrap() error { return f.Err }

// errCutOff is the error for an envelope without the line end that [Seal] writes last.
var errCutOff = errors.New("is cut off: it does not end with the line end that follows every envelope")

// Open returns the payload of an envelope of the purpose and the id of the key that
// signed it, which is one of ks. It takes the bytes that [Seal] writes and no others. An
// envelope that is cut off, be it by its line end alone, is unreadable. The error is a
// *[Flaw].
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
		return wrong("payloadType", "is %q, not %q", clip(e.PayloadType), as)
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
		return wrong("signatures[0].keyid", "%w: %q", ErrUntrusted, clip(s.KeyID))
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

// parseEnvelope reads the one spelling of an envelope: what is read has to give
// the text again, so that nothing stands twice in it, in another case, or around it.
func parseEnvelope(text []byte) (e sealed, err error) {
	if err = json.Unmarshal(text, &e); err == nil {
		var again []byte
		if again, err = spelt(e); err == nil && bytes.Equal(again, text) {
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

// spelt is the one spelling of an envelope, without its line end.
func spelt(e sealed) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	v := jsontext.Value(text)
	return v, v.Canonicalize()
}

// plainBase64 reads the one spelling of standard base64: the decoder skips line
// ends and lenient padding bits, so what was read has to give the text again.
func plainBase64(text string) ([]byte, bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != text {
		return nil, false
	}
	return raw, true
}
