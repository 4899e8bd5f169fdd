package builtins

import (
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/validators"
)

var registered struct {
	sync.Mutex
	list []validators.Validator
}

// Register adds validators to the set that [Default] gives from then on: for a
// program that embeds the runner and calls it from its main. A validator wins
// over an earlier one and over a built-in of the same name. It is safe for
// concurrent use.
func Register(v ...validators.Validator) {
	registered.Lock()
	defer registered.Unlock()
	registered.list = append(registered.list, v...)
}

// Default is the set of the built-ins and of what has been registered so far.
func Default() validators.Set {
	registered.Lock()
	defer registered.Unlock()
	return validators.NewSet(append(All(), slices.Clone(registered.list)...)...)
}
