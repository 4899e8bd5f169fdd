package cascades

import (
	"reflect"
	"sync/atomic"

	"github.com/seed61713e19/capstan/validators/schema"
)

// A held is the schema that calls of a tool are held against: it is compiled when
// the first call is, and again only where an MCP server tells another one.
type held struct{ last atomic.Pointer[compiled] }

type compiled struct {
	params map[string]any
	schema *schema.Schema // nil where it is wrong
}

func (h *held) against(params map[string]any) *schema.Schema {
	if h == nil { // of a phase without a model: it is called once
		h = &held{}
	}
	if c := h.last.Load(); c != nil && reflect.ValueOf(c.params).Pointer() == reflect.ValueOf(params).Pointer() {
		return c.schema
	}
	s, _ := schema.Compile(params) // nil where it is wrong
	h.last.Store(&compiled{params, s})
	return s
}

// Unfit says what of the arguments of a call the schema of a tool does not
// take, "" where it takes them or says nothing of them that can be checked here.
func (t *Tool) Unfit(arguments map[string]any) string {
	_, params, _ := t.Told() // none of a tool that is not there
	// A schema that is wrong, or none, refuses nothing.
	if err := t.held.against(params).Refusal(nil, arguments); err != nil {
		return err.Error()
	}
	return ""
}
