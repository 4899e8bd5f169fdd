package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"

	"gopkg.in/yaml.v3"

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
