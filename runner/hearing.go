package runner

import "github.com/seed61713e19/capstan/runner/model"

// A hearing hands on what a model says as it says it, in pieces that end with whole
// characters: a model of somebody's own may cut where its bytes end.
type hearing struct {
	told func(string)
	held string // the beginning of a character
}

func (h *hearing) hear(piece string) {
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
	if h != nil && h.held != "" {
		h.told(h.held)
		h.held = ""
	}
}
