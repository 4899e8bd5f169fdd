package builtins

import (
	"context"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

type schemaParams struct {
	Schema any `json:"schema" jsonschema:"a JSON Schema, 2020-12 unless its $schema says otherwise; formats are checked"`

	check validators.Check
}

// Prepare implements [validators.Prepared].
func (p *schemaParams) Prepare() error {
	s, err := schema.Compile(p.Schema)
	if err != nil {
		return err
	}
	p.check = validators.JSONSchema(s)
	return nil
}

// matchesSchemaValidator accepts text whose JSON is valid against a JSON Schema. The
// JSON may be in prose or in a fence; see [validators.JSONSchema].
var matchesSchemaValidator = validators.New("json_schema", "Validates that the JSON in the text keeps to a JSON Schema",
	func(ctx context.Context, p schemaParams, s validators.Subject) (validators.Verdict, error) {
		return p.check(ctx, s)
	})
