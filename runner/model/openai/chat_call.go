package openai

import (
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// A callPart is a tool call or a piece of one.
type callPart struct {
	index, id, name string
	arguments       jsontree.Value // a JSON text in a string; an object with some endpoints
}

// callPartOf decodes a tool call.
func callPartOf(v jsontree.Value) (p callPart) {
	for name, value := range v.Members() {
		switch string(name) {
		case "index":
			p.index = protocol.Word(value)
		case "id":
			p.id = protocol.Word(value)
		case "function":
			function := functionOf(value)
			p.name, p.arguments = function.name, function.arguments
		}
	}
	return p
}

// functionOf decodes the function of a tool call.
func functionOf(v jsontree.Value) (p callPart) {
	for name, value := range v.Members() {
		switch string(name) {
		case "name":
			p.name = protocol.Word(value)
		case "arguments":
			p.arguments = value
		}
	}
	return p
}
