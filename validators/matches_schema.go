package validators

import (
	"context"

	"github.com/seed61713e19/capstan/validators/schema"
)

type schemaParams struct {
	Schema any `json:"schema" jsonschema:"a JSON Schema, 2020-12 unless its $schema says otherwise; formats are checked"`

	check Check
}

// Prepare implements [Prepared].
func (p *schemaParams) Prepare() error {
	s, err := schema.Compile(p.Schema)
	if err != nil {
		return err
	}
	p.check = JSONSchema(s)
	return nil
}

// MatchesSchema accepts text whose JSON, alone or in prose and fences, keeps to
// a JSON Schema; see [JSONSchema].
var MatchesSchema = New("json_schema", "Validates that the JSON in the text keeps to a JSON Schema",
	func(ctx context.Context, p schemaParams, s Subject) (Verdict, error) { return p.check(ctx, s) })
