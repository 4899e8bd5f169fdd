package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/propagation"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// A question is one request of a caller, over all its tries. What an endpoint turns out
// to lack changes between them.
type question struct {
	c         *Client
	r         model.Request
	formatted bool   // the request may carry the schema as a member
	object    bool   // the schema is one of objects
	strict    bool   // it is in the strict subset
	lacks     []lack // what was given up
	onTrial   bool   // the last of them may not be to blame
	tried     bool   // one was, in vain
	failed    int    // how often the endpoint answered with status 500

	stream bool
	heard  bool // OnText got text of the try under way
}

func (c *Client) question(r model.Request) (*question, error) {
	for _, asked := range r.Params.Asks() {
		if slices.Contains(c.protocol.Unsupported(), asked) {
			return nil, fmt.Errorf("%s: the protocol has no %s: remove it, or choose another api for the provider", c.provider.Name, asked)
		}
	}
	if err := r.Params.Check(); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	q := &question{c: c, r: r, stream: c.stream || r.OnText != nil}
	if len(r.Tools) > 0 && q.has("tools") {
		return nil, errors.New("extra: tools cannot be set there, where the model has tools")
	}
	if len(r.Schema) > 0 && (r.Params == nil || !r.Params.NoFormat) && !q.has(formatField) {
		var schema any
		d := json.NewDecoder(bytes.NewReader(r.Schema))
		d.UseNumber() // a bound like 1e400 is a number too
		if err := d.Decode(&schema); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		root, _ := schema.(map[string]any)
		q.formatted, q.object, q.strict = true, root["type"] == "object", strict(schema)
	}
	q.lacks = c.lacking.of(q)
	return q, nil
}

// query returns the question as the next try asks it.
func (q *question) query() protocol.Query {
	query := protocol.Query{Request: q.asked(), Stream: q.stream, Form: q.form(), Strict: q.strict, Without: q.without}
	if q.caches() {
		query.CacheKey = q.cacheKey()
	}
	return query
}

// setHeader sets the headers of a request.
func (q *question) setHeader(r *http.Request) {
	accept := "application/json"
	if q.stream {
		accept = "text/event-stream"
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}}
	maps.Copy(r.Header, q.c.header)
	if field := q.c.provider.CacheHeader; field != "" && q.r.Run != "" && r.Header.Get(field) == "" {
		r.Header.Set(field, q.cacheKey())
	}
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header)) // whose work the call is
}

// has reports whether the cascade's own extra has a member.
func (q *question) has(name string) bool { return q.r.Params != nil && q.r.Params.Extra.Has(name) }

// caches reports whether the body names the run for the endpoint's prompt cache.
func (q *question) caches() bool {
	field := q.c.provider.CacheField
	return field != "" && q.r.Run != "" && !q.without(field)
}

// cacheKey returns a name of the run that does not show the run's own name, in as few
// characters as endpoints take.
func (q *question) cacheKey() string {
	sum := sha256.Sum256([]byte(q.r.Run))
	return "capstan-" + hex.EncodeToString(sum[:16])
}
