package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The messages of opentelemetry-proto's trace.proto, as far as spans need
// them. Their JSON is OTLP's, which is not protobuf's: identifiers are in
// hexadecimal. Their protobuf form is in protobuf.go.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceMessage `json:"resource"`
		ScopeSpans []scopeSpans    `json:"scopeSpans"`
		SchemaURL  string          `json:"schemaUrl,omitempty"`
	}
	resourceMessage struct {
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	scopeSpans struct {
		Scope     scope  `json:"scope"`
		Spans     []span `json:"spans"`
		SchemaURL string `json:"schemaUrl,omitempty"`
	}
	scope struct {
		Name    string `json:"name,omitempty"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID           id         `json:"traceId"`
		SpanID            id         `json:"spanId"`
		TraceState        string     `json:"traceState,omitempty"`
		ParentSpanID      id         `json:"parentSpanId,omitempty"`
		Flags             uint32     `json:"flags,omitempty"`
		Name              string     `json:"name"`
		Kind              int        `json:"kind"`
		Start             nanos      `json:"startTimeUnixNano"`
		End               nanos      `json:"endTimeUnixNano"`
		Attributes        []keyValue `json:"attributes,omitempty"`
		DroppedAttributes uint32     `json:"droppedAttributesCount,omitempty"`
		Events            []event    `json:"events,omitempty"`
		DroppedEvents     uint32     `json:"droppedEventsCount,omitempty"`
		Links             []link     `json:"links,omitempty"`
		DroppedLinks      uint32     `json:"droppedLinksCount,omitempty"`
		Status            status     `json:"status"`
	}
	event struct {
		Time       nanos      `json:"timeUnixNano"`
		Name       string     `json:"name"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Dropped    uint32     `json:"droppedAttributesCount,omitempty"`
	}
	link struct {
		TraceID    id         `json:"traceId"`
		SpanID     id         `json:"spanId"`
		TraceState string     `json:"traceState,omitempty"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Dropped    uint32     `json:"droppedAttributesCount,omitempty"`
		Flags      uint32     `json:"flags,omitempty"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	keyValue struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct{ attribute.Value }

	id    []byte
	nanos uint64
)

func (i id) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(i)), nil }

func (n nanos) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(n), 10), nil }

// MarshalJSON writes the one field that holds the value.
func (v value) MarshalJSON() ([]byte, error) {
	field, held := "stringValue", any(nil)
	switch v.Type() {
	case attribute.EMPTY:
		return []byte("{}"), nil
	case attribute.BOOL:
		field, held = "boolValue", v.AsBool()
	case attribute.INT64:
		field, held = "intValue", strconv.FormatInt(v.AsInt64(), 10)
	case attribute.FLOAT64:
		field, held = "doubleValue", double(v.AsFloat64())
	case attribute.BYTESLICE:
		field, held = "bytesValue", base64.StdEncoding.EncodeToString(v.AsByteSlice())
	case attribute.STRING:
		held = v.AsString()
	default:
		list, isList := v.list()
		if !isList {
			held = v.String()
			break
		}
		field, held = "arrayValue", map[string]any{"values": list}
	}
	return json.Marshal(map[string]any{field: held})
}

// double is a number as JSON, which has no word for those that are not finite.
func double(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "Inf", "Infinity", 1)
	}
	return f
}

// list is the values of a slice.
func (v value) list() (list []value, is bool) {
	switch v.Type() {
	case attribute.BOOLSLICE:
		return values(v.AsBoolSlice(), attribute.BoolValue), true
	case attribute.INT64SLICE:
		return values(v.AsInt64Slice(), attribute.Int64Value), true
	case attribute.FLOAT64SLICE:
		return values(v.AsFloat64Slice(), attribute.Float64Value), true
	case attribute.STRINGSLICE:
		return values(v.AsStringSlice(), attribute.StringValue), true
	}
	return nil, false
}

func values[T any](from []T, wrap func(T) attribute.Value) []value {
	out := make([]value, len(from))
	for i, v := range from {
		out[i] = value{wrap(v)}
	}
	return out
}

// messageOf groups spans by what made them. The order of spans is kept.
func messageOf(spans []sdk.ReadOnlySpan) request {
	type key struct {
		resource attribute.Distinct
		scope    instrumentation.Scope
	}
	var r request
	resources := map[attribute.Distinct]int{}
	scopes := map[key]int{}
	for _, s := range spans {
		k := key{s.Resource().Equivalent(), s.InstrumentationScope()}
		i, known := resources[k.resource]
		if !known {
			i = len(r.ResourceSpans)
			resources[k.resource] = i
			r.ResourceSpans = append(r.ResourceSpans, resourceOf(s.Resource()))
		}
		group := &r.ResourceSpans[i]
		j, known := scopes[k]
		if !known {
			j = len(group.ScopeSpans)
			scopes[k] = j
			group.ScopeSpans = append(group.ScopeSpans, scopeSpans{Scope: scope{k.scope.Name, k.scope.Version}, SchemaURL: k.scope.SchemaURL})
		}
		group.ScopeSpans[j].Spans = append(group.ScopeSpans[j].Spans, spanOf(s))
	}
	return r
}

func resourceOf(r *resource.Resource) resourceSpans {
	return resourceSpans{Resource: resourceMessage{attributes(r.Attributes())}, SchemaURL: r.SchemaURL()}
}

func spanOf(s sdk.ReadOnlySpan) span {
	own := s.SpanContext()
	out := span{
		TraceID: traceID(own), SpanID: spanID(own), TraceState: own.TraceState().String(), Flags: flags(own, s.Parent().IsRemote()),
		Name: s.Name(), Kind: int(s.SpanKind()), Start: when(s.StartTime()), End: when(s.EndTime()),
		Attributes: attributes(s.Attributes()), DroppedAttributes: count(s.DroppedAttributes()),
		DroppedEvents: count(s.DroppedEvents()), DroppedLinks: count(s.DroppedLinks()), Status: statusOf(s.Status()),
	}
	if s.Parent().HasSpanID() {
		out.ParentSpanID = spanID(s.Parent())
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, event{when(e.Time), e.Name, attributes(e.Attributes), count(e.DroppedAttributeCount)})
	}
	for _, l := range s.Links() {
		to := l.SpanContext
		out.Links = append(out.Links, link{traceID(to), spanID(to), to.TraceState().String(), attributes(l.Attributes), count(l.DroppedAttributeCount), flags(to, to.IsRemote())})
	}
	return out
}

func attributes(list []attribute.KeyValue) []keyValue {
	out := make([]keyValue, len(list))
	for i, a := range list {
		out[i] = keyValue{string(a.Key), value{a.Value}}
	}
	return out
}

func traceID(c trace.SpanContext) id {
	t := c.TraceID()
	return t[:]
}

func spanID(c trace.SpanContext) id {
	s := c.SpanID()
	return s[:]
}

// flags are the W3C trace flags, and whether what the span hangs on is remote.
func flags(c trace.SpanContext, remote bool) uint32 {
	const known, isRemote = 1 << 8, 1 << 9
	f := uint32(c.TraceFlags()) | known
	if remote {
		f |= isRemote
	}
	return f
}

// statusOf orders the codes as OTLP does: the SDK has ok and error the other
// way round.
func statusOf(s sdk.Status) status {
	switch s.Code {
	case codes.Ok:
		return status{s.Description, 1}
	case codes.Error:
		return status{s.Description, 2}
	}
	return status{}
}

func when(t time.Time) nanos { return nanos(max(t.UnixNano(), 0)) }

func count(n int) uint32 { return uint32(max(n, 0)) }
