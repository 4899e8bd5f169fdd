package otlp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"

	"google.golang.org/protobuf/encoding/protowire"
)

// rejected is an error where a receiver took a message only in part. What it
// says is read by hand: the package of the type has gRPC's services too.
func (c *client) rejected(contentType string, text []byte) error {
	var n int64
	var why string
	switch kind, _, _ := mime.ParseMediaType(contentType); kind {
	case "application/x-protobuf":
		partial, _ := protowire.ConsumeBytes(field(text, 1))
		count, _ := protowire.ConsumeVarint(field(partial, 1))
		n = int64(count)
		why, _ = protowire.ConsumeString(field(partial, 2))
	case "application/json":
		var answer struct {
			PartialSuccess struct {
				RejectedSpans, RejectedDataPoints json.Number // or its text, as protobuf has it of 64 bits
				ErrorMessage                      string
			}
		}
		if json.Unmarshal(text, &answer) == nil {
			p := answer.PartialSuccess
			n, _ = cmp.Or(p.RejectedSpans, p.RejectedDataPoints).Int64()
			why = p.ErrorMessage
		}
	}
	if n == 0 && why == "" {
		return nil
	}
	return fmt.Errorf("OTLP partial success: %s (%d %s rejected)", why, n, c.what)
}

// field is the value of a message's field, as it is encoded; nil where there is none.
func field(message []byte, want protowire.Number) []byte {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return nil
		}
		if number == want {
			return message[tag : tag+size]
		}
		message = message[tag+size:]
	}
	return nil
}
