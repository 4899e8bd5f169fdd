package cascades

import (
	"bytes"
	_ "embed"
)

//go:embed cascade.schema.json
var jsonSchema []byte

// JSONSchema is the JSON Schema (2020-12) of cascade files, for editors: every
// key with what it means, the values it may have and its default. What needs
// more than the file alone, such as whether a validator of that name exists,
// only [Parse] can tell.
func JSONSchema() []byte { return bytes.Clone(jsonSchema) }
