package runner

import (
	"sync"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/modelmarkup"
)

// A textStream forwards a model's text as it arrives, without thinking and in whole
// characters. After the end of the call, it forwards no more text.
type textStream struct {
	mu      sync.Mutex // held during emit
	emit    func(string)
	partial string // the first bytes of an incomplete character
	stream  modelmarkup.Stream
	over    bool
}

func (s *textStream) add(piece string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if piece == "" { // the text starts again
		s.partial, s.stream = "", modelmarkup.Stream{}
		s.emit("")
		return
	}
	piece = s.partial + piece
	end := clips.Whole(piece)
	s.partial = piece[end:]
	s.pass(piece[:end])
}

func (s *textStream) pass(piece string) {
	out, anew := s.stream.Add(piece)
	if anew {
		s.emit("")
	}
	if out != "" {
		s.emit(out)
	}
}

// end passes on the remaining text. It accepts a nil receiver.
func (s *textStream) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.pass(s.partial)
	if rest := s.stream.End(); rest != "" {
		s.emit(rest)
	}
}
