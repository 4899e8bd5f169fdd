package otlp

import (
	"encoding/json"
	"errors"
	"mime"

	"google.golang.org/protobuf/encoding/protowire"
)

// partial reads a receiver's answer to a request that it took: an error where
// it says that it refused some of the spans. An answer that cannot be read says
// nothing.
func partial(answer []byte, contentType string) error {
	kind, _, _ := mime.ParseMediaType(contentType)
	refused, message := int64(0), ""
	if kind == "application/json" {
		var said struct {
			Partial struct {
				Refused json.Number `json:"rejectedSpans"` // a text in OTLP's JSON
				Message string      `json:"errorMessage"`
			} `json:"partialSuccess"`
		}
		if json.Unmarshal(answer, &said) == nil {
			refused, _ = said.Partial.Refused.Int64()
			message = said.Partial.Message
		}
	} else {
		refused, message = partialSuccess(answer)
	}
	if refused <= 0 {
		return nil
	}
	return &Refused{int(refused), errors.New("the receiver refused them: " + message)}
}

// partialSuccess reads the two fields of the message in field 1.
func partialSuccess(answer []byte) (refused int64, message string) {
	fields(answer, func(n protowire.Number, _ uint64, inner []byte) {
		if n != 1 {
			return
		}
		fields(inner, func(n protowire.Number, number uint64, text []byte) {
			switch n {
			case 1:
				refused = int64(number)
			case 2:
				message = string(text)
			}
		})
	})
	return refused, message
}

// fields calls f with each field of a message, until the first that is broken.
func fields(b []byte, f func(n protowire.Number, number uint64, text []byte)) {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		size = protowire.ConsumeFieldValue(n, kind, b)
		if size < 0 {
			return
		}
		switch kind {
		case protowire.VarintType:
			number, _ := protowire.ConsumeVarint(b)
			f(n, number, nil)
		case protowire.BytesType:
			text, _ := protowire.ConsumeBytes(b)
			f(n, 0, text)
		}
		b = b[size:]
	}
}
