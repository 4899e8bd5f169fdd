package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/requestids"
	"github.com/seed61713e19/capstan/internal/schema"
)

// An exact reader passes the messages of a server to the SDK. Because the SDK converts
// every number to a float64, it encodes a structured result as a text, which
// [structured] decodes. It returns an error at an id that the SDK would change.
type exact struct {
	io.ReadCloser
	in    *bufio.Reader
	limit int64  // the number of bytes of a message that are checked
	whole bool   // reports whether the body is one message; otherwise each line is one
	fault *fault // set for a message that is not passed on
	out   []byte // the bytes that were not read yet
	err   error
}

func newExact(r io.ReadCloser, limit int64, whole bool, fault *fault) *exact {
	return &exact{ReadCloser: r, in: bufio.NewReader(r), limit: limit, whole: whole, fault: fault}
}

// Read implements [io.Reader].
func (e *exact) Read(p []byte) (int, error) {
	if len(e.out) == 0 && e.err == nil {
		message, err := e.message()
		if wrong := requestids.Check(bytes.TrimPrefix(message, eventField)); wrong != nil {
			message, err = nil, e.fault.set(fmt.Errorf("a message of the server: %w", wrong))
		}
		e.out, e.err = packed(message), err
	}
	n := copy(p, e.out)
	if e.out = e.out[n:]; len(e.out) == 0 {
		return n, e.err
	}
	return n, nil
}

// message reads a message, or its checked part.
func (e *exact) message() (message []byte, err error) {
	for int64(len(message)) < e.limit {
		part, err := e.in.ReadSlice('\n')
		message = append(message, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || err == nil && !e.whole {
			return message, err
		}
	}
	return message, nil
}

const structuredKey, packedKey = "structuredContent", "capstan/json"

// eventField precedes a message in an event stream.
var eventField = []byte("data:")

// packed encodes the structured result of a message as a text. It returns other
// messages unchanged.
func packed(message []byte) []byte {
	if !bytes.Contains(message, []byte(structuredKey)) {
		return message
	}
	field := eventField
	body, isEvent := bytes.CutPrefix(message, field)
	if !isEvent {
		field = nil
	}
	var outer, result map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil || json.Unmarshal(outer["result"], &result) != nil || result[structuredKey] == nil {
		return message
	}
	var err error
	if result[structuredKey], err = json.Marshal(map[string]string{packedKey: string(result[structuredKey])}); err != nil {
		return message
	}
	if outer["result"], err = json.Marshal(result); err != nil {
		return message
	}
	text, err := json.Marshal(outer)
	if err != nil {
		return message
	}
	return append(append(field[:len(field):len(field)], text...), '\n')
}

// structured returns the structured content of a result as a plain value, or
// nil.
func structured(r *sdk.CallToolResult) (any, error) {
	if object, ok := r.StructuredContent.(map[string]any); ok {
		if text, ok := object[packedKey].(string); ok && len(object) == 1 {
			return schema.Parse([]byte(text))
		}
	}
	return schema.Plain(r.StructuredContent)
}
