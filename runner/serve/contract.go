package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

//go:embed openapi.yaml
var openapi []byte

// A contract is the OpenAPI document with its schemas.
type contract struct {
	json    []byte
	schemas map[string]*schema.Schema
}

// bodies are the schemas of request bodies.
var bodies = []string{"StartRun", "RunAgain", "Answer", "Judge"}

func newContract() (*contract, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	c := &contract{json: text, schemas: map[string]*schema.Schema{}}
	for _, name := range bodies {
		if c.schemas[name], err = schema.Compile(map[string]any{"$ref": "#/components/schemas/" + name, "components": doc["components"]}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// names reports whether a name is valid for a run.
func (c *contract) names(ctx context.Context, run string) bool {
	return c.schemas["RunAgain"].Validate(ctx.Err, map[string]any{"run_id": run}) == nil
}

func (s *Server) openapiJSON(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Write(s.contract.json)
	return nil
}

func (s *Server) openapiYAML(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Write(openapi)
	return nil
}

// read decodes a JSON body into v if it matches the named schema of the contract. It refuses
// unknown keys, duplicate keys and text after the document.
func (s *Server) read(w http.ResponseWriter, r *http.Request, name string, v any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return orders.NewProblem(http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json")
	}
	text, err := api.Body(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	value, err := schema.Parse(text)
	if err != nil {
		return orders.NewProblem(http.StatusBadRequest, "bad_json", err.Error())
	}
	shape := s.contract.schemas[name]
	if shape == nil {
		return fmt.Errorf("the contract has no schema %s, so every value would pass", name)
	}
	broken, err := shape.Check(r.Context().Err, value)
	if err != nil {
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_body", err.Error())
	}
	if len(broken) > 0 {
		p := orders.NewProblem(http.StatusUnprocessableEntity, "invalid_body", "the body is not a "+name)
		for _, b := range broken {
			p.Errors = append(p.Errors, orders.Place{Path: b.Path, Message: b.Message})
		}
		return p
	}
	if err := schema.Unmarshal(text, v); err != nil {
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_body", err.Error())
	}
	return nil
}

// noBody refuses a body that is not empty or an empty object: a client must not believe that a
// key had an effect. The hint is part of the message.
func noBody(w http.ResponseWriter, r *http.Request, hint string) error {
	text, err := api.Body(w, r, api.MaxBody)
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return err
	}
	value, err := schema.Parse(text)
	body, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return orders.NewProblem(http.StatusBadRequest, "bad_json", "this takes no body, or an empty object")
	}
	if len(body) == 0 {
		return nil
	}
	p := orders.NewProblem(http.StatusUnprocessableEntity, "invalid_body", "this takes no body, or an empty object")
	for _, key := range slices.Sorted(maps.Keys(body)) {
		p.Errors = append(p.Errors, orders.Place{Path: "$." + key, Message: "is not known here" + hint})
	}
	return p
}
