package otlp

import (
	"math"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers here are those of the fields in opentelemetry-proto's
// trace.proto, common.proto and resource.proto; the test holds them against the
// types that are generated from these.

type appender interface{ append(b []byte) []byte }

func appendMessage(b []byte, field protowire.Number, m appender) []byte {
	return appendBytes(b, field, m.append(nil))
}

func appendMessages[T appender](b []byte, field protowire.Number, list []T) []byte {
	for _, m := range list {
		b = appendMessage(b, field, m)
	}
	return b
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// appendString leaves out an empty text. A receiver may refuse the whole
// message for one text that is not UTF-8.
func appendString(b []byte, field protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), strings.ToValidUTF8(v, "\uFFFD"))
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendFixed64(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func appendFixed32(b []byte, field protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, field, protowire.Fixed32Type), v)
}

func (r request) append(b []byte) []byte { return appendMessages(b, 1, r.ResourceSpans) }

func (r resourceSpans) append(b []byte) []byte {
	b = appendMessage(b, 1, r.Resource)
	b = appendMessages(b, 2, r.ScopeSpans)
	return appendString(b, 3, r.SchemaURL)
}

func (r resourceMessage) append(b []byte) []byte { return appendMessages(b, 1, r.Attributes) }

func (s scopeSpans) append(b []byte) []byte {
	b = appendMessage(b, 1, s.Scope)
	b = appendMessages(b, 2, s.Spans)
	return appendString(b, 3, s.SchemaURL)
}

func (s scope) append(b []byte) []byte { return appendString(appendString(b, 1, s.Name), 2, s.Version) }

func (s span) append(b []byte) []byte {
	b = appendBytes(b, 1, s.TraceID)
	b = appendBytes(b, 2, s.SpanID)
	b = appendString(b, 3, s.TraceState)
	if len(s.ParentSpanID) > 0 {
		b = appendBytes(b, 4, s.ParentSpanID)
	}
	b = appendString(b, 5, s.Name)
	b = appendNumber(b, 6, uint64(s.Kind))
	b = appendFixed64(b, 7, uint64(s.Start))
	b = appendFixed64(b, 8, uint64(s.End))
	b = appendMessages(b, 9, s.Attributes)
	b = appendNumber(b, 10, uint64(s.DroppedAttributes))
	b = appendMessages(b, 11, s.Events)
	b = appendNumber(b, 12, uint64(s.DroppedEvents))
	b = appendMessages(b, 13, s.Links)
	b = appendNumber(b, 14, uint64(s.DroppedLinks))
	b = appendMessage(b, 15, s.Status)
	return appendFixed32(b, 16, s.Flags)
}

func (e event) append(b []byte) []byte {
	b = appendFixed64(b, 1, uint64(e.Time))
	b = appendString(b, 2, e.Name)
	b = appendMessages(b, 3, e.Attributes)
	return appendNumber(b, 4, uint64(e.Dropped))
}

func (l link) append(b []byte) []byte {
	b = appendBytes(b, 1, l.TraceID)
	b = appendBytes(b, 2, l.SpanID)
	b = appendString(b, 3, l.TraceState)
	b = appendMessages(b, 4, l.Attributes)
	b = appendNumber(b, 5, uint64(l.Dropped))
	return appendFixed32(b, 6, l.Flags)
}

func (s status) append(b []byte) []byte {
	return appendNumber(appendString(b, 2, s.Message), 3, uint64(s.Code))
}

func (k keyValue) append(b []byte) []byte {
	return appendMessage(appendString(b, 1, k.Key), 2, k.Value)
}

// append writes the one field that holds the value, though it may be zero.
func (v value) append(b []byte) []byte {
	switch v.Type() {
	case attribute.EMPTY:
		return b
	case attribute.BOOL:
		return protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(v.AsInt64()))
	case attribute.FLOAT64:
		return appendFixed64(b, 4, math.Float64bits(v.AsFloat64()))
	case attribute.BYTESLICE:
		return appendBytes(b, 7, v.AsByteSlice())
	}
	if list, is := v.list(); is {
		return appendBytes(b, 5, appendMessages(nil, 1, list))
	}
	return appendBytes(b, 1, []byte(strings.ToValidUTF8(v.text(), "\uFFFD")))
}

func (v value) text() string {
	if v.Type() == attribute.STRING {
		return v.AsString()
	}
	return v.String()
}
