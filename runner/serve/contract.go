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

	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/validators/schema"
)

//go:embed openapi.yaml
var openapi []byte

// A contract is the API's OpenAPI document, and the schemas in it.
type contract struct {
	json    []byte
	schemas map[string]*schema.Schema
}

// bodies are the schemas that request bodies are held against.
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

// names tells whether a run may have that name.
func (c *contract) names(ctx context.Context, run string) bool {
	return c.schemas["RunAgain"].Refusal(ctx.Err, map[string]any{"run_id": run}) == nil
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

// read reads a JSON body of the named schema of the contract into v. What the
// schema does not know, keys that stand twice, and text behind the document are
// refused.
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
	held := s.contract.schemas[name]
	if held == nil {
		return fmt.Errorf("the contract holds no %s: nothing would be refused", name)
	}
	broken, err := held.Check(r.Context().Err, value)
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

// bare reads the body of an order that takes none, or an empty object. A key
// that is ignored would be taken for one that was heeded. Instead of what some
// keys ask for, hints have something to say.
func bare(w http.ResponseWriter, r *http.Request, hints map[string]string) error {
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
		message := "is not known here"
		if hint := hints[strings.ReplaceAll(strings.ToLower(key), "-", "_")]; hint != "" {
			message += ": " + hint
		}
		p.Errors = append(p.Errors, orders.Place{Path: "$." + key, Message: message})
	}
	return p
}
