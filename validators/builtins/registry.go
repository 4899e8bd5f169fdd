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

// Register adds validators to the set that [Default] returns. Programs that
// embed the runner call it from main. A validator replaces earlier and built-in
// validators of the same name. Register is safe for concurrent use.
func Register(v ...validators.Validator) {
	registered.Lock()
	defer registered.Unlock()
	registered.list = append(registered.list, v...)
}

// Default returns the set of the built-in and the registered validators.
func Default() validators.Set {
	registered.Lock()
	defer registered.Unlock()
	return validators.NewSet(append(All(), slices.Clone(registered.list)...)...)
}
