package runner

import (
	"sync"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/runner/model"
)

// A hearing passes on the text of a model while it arrives: without thinking, in
// pieces of whole characters, and nothing after the call is over.
type hearing struct {
	mu     sync.Mutex // held while it is told
	told   func(string)
	held   string // the beginning of a character
	stream modelmarkup.Stream
	over   bool
}

func (h *hearing) hear(piece string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	if piece == "" { // it begins anew
		h.held, h.stream = "", modelmarkup.Stream{}
		h.told("")
		return
	}
	piece = h.held + piece
	end := model.Whole(piece)
	h.held = piece[end:]
	h.pass(piece[:end])
}

func (h *hearing) pass(piece string) {
	out, anew := h.stream.Add(piece)
	if anew {
		h.told("")
	}
	if out != "" {
		h.told(out)
	}
}

// end passes on what is left; nil has nothing.
func (h *hearing) end() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.pass(h.held)
	if rest := h.stream.End(); rest != "" {
		h.told(rest)
	}
}
