package cascades

import (
	"reflect"
	"sync/atomic"

	"github.com/seed61713e19/capstan/internal/schema"
)

// An argumentSchema compiles the schema of the arguments of a tool at the first call. It
// compiles a changed schema of an MCP server again.
type argumentSchema struct{ last atomic.Pointer[compiled] }

type compiled struct {
	params map[string]any
	schema *schema.Schema // nil for an invalid one
}

func (h *argumentSchema) of(params map[string]any) *schema.Schema {
	if h == nil { // a phase without a model calls it once
		h = &argumentSchema{}
	}
	if c := h.last.Load(); c != nil && reflect.ValueOf(c.params).Pointer() == reflect.ValueOf(params).Pointer() {
		return c.schema
	}
	s, _ := schema.Compile(params) // nil for an invalid one
	h.last.Store(&compiled{params, s})
	return s
}

// Unfit returns why the schema of the tool refuses the arguments of a call, or "".
func (t *Tool) Unfit(arguments map[string]any) string {
	_, params, _ := t.Described() // none of a tool that is not there
	// A schema that is wrong, or none, refuses nothing.
	if err := t.arguments.of(params).Validate(nil, arguments); err != nil {
		return err.Error()
	}
	return ""
}
