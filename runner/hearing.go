package runner

import (
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
)

// A hearing hands on what a model says as it says it, in pieces that end with whole
// characters: a model of somebody's own may cut where its bytes end, and may go on
// when its call is over, which nobody hears.
type hearing struct {
	mu   sync.Mutex // held while it is told
	told func(string)
	held string // the beginning of a character
	over bool
}

func (h *hearing) hear(piece string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	if piece == "" { // it begins anew
		h.held = ""
		h.told("")
		return
	}
	piece = h.held + piece
	end := model.Whole(piece)
	h.held = piece[end:]
	if end > 0 {
		h.told(piece[:end])
	}
}

// end hands on what no more has come of; nil has heard nothing.
func (h *hearing) end() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over = true; h.held != "" {
		h.told(h.held)
	}
}
