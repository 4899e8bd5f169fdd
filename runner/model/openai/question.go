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

	"github.com/seed61713e19/capstan/internal/tracecontext"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// A question is a request with the members that the endpoint rejected in
// earlier tries.
type question struct {
	c         *Client
	r         model.Request
	formatted bool   // reports whether the request may have the schema as a member
	object    bool   // reports whether the schema is that of an object
	strict    bool   // reports whether the schema is in the strict subset
	lacks     []lack // the removed members
	onTrial   bool   // whether the last member is only a suspect
	tried     bool   // reports whether a suspected member was removed without success
	failed    int    // the number of replies with status 500

	stream  bool
	emitted bool // reports whether OnText got text of the current try
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
		d.UseNumber() // a limit such as 1e400 is also a number
		if err := d.Decode(&schema); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		root, _ := schema.(map[string]any)
		q.formatted, q.object, q.strict = true, root["type"] == "object", strict(schema)
	}
	q.lacks = c.lacking.of(q)
	return q, nil
}

// query returns the request of the next try.
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
	tracecontext.Inject(r.Context(), r.Header.Set) // the trace of the call
}

// has reports whether the extra of the cascade has the member.
func (q *question) has(name string) bool { return q.r.Params != nil && q.r.Params.Extra.Has(name) }

// caches reports whether the body has the key for the prompt cache.
func (q *question) caches() bool {
	field := q.c.provider.CacheField
	return field != "" && q.r.Run != "" && !q.without(field)
}

// cacheKey returns a hash of the run's name, in the characters that endpoints
// accept.
func (q *question) cacheKey() string {
	sum := sha256.Sum256([]byte(q.r.Run))
	return "capstan-" + hex.EncodeToString(sum[:16])
}
