package checks

import (
	"reflect"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Provider is a provider of the cascade or of a nested cascade, without its limits.
type Provider struct {
	model.Provider
	File string
	Node *yaml.Node // key of the provider; nil in another file
}

// providers reports different providers with the same name in the files of a cascade. The name
// of a model only contains the name of its provider.
func providers(c *Cascade, r *findings.Report) {
	first := map[string]Provider{}
	for _, p := range c.Providers {
		known, again := first[p.Name]
		switch {
		case !again:
			first[p.Name] = p
		case reflect.DeepEqual(p.Provider, known.Provider):
		case known.Node != nil:
			r.Error(known.Node, codes.Conflict, "provider %s is defined differently in %s", p.Name, p.File)
		default:
			r.Error(nil, codes.Conflict, "provider %s is defined differently in %s and in %s", p.Name, p.File, known.File)
		}
	}
}
