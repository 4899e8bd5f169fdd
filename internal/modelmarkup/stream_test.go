package modelmarkup_test

import (
	"testing"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
)

// streamed returns the text that a reader of the pieces sees in the end, and whether the text
// began anew.
func streamed(pieces ...string) (shown string, anew bool) {
	var s modelmarkup.Stream
	for _, p := range pieces {
		out, again := s.Add(p)
		if again {
			shown, anew = "", true
		}
		shown += out
	}
	return shown + s.End(), anew
}

func TestStream(t *testing.T) {
	for text, wantAnew := range map[string]bool{
		"Hello.": false, " Hello <b>there</b>.": false, "<think>Hm.</think>\n\nHello.": false, "[THINK]Hm.[/THINK]Hello.": false, "[1] Hello.": false, "<": false,
		"<think>Hm.": false, "<think>a</think><thought>b</thought>Hello.": false, "Hm.\n</think>\nHello.": true, "<think>a</think>b</think>Hello.": true,
		"It says `</think>` there.": false, "": false, "<thinking about it>": false, "```\n</think>\n```\nHello.": false,
	} {
		want, _ := modelmarkup.Cut(text)
		for _, n := range []int{1, 2, 5, 100} {
			var pieces []string
			for at := 0; at < len(text); at += n {
				pieces = append(pieces, text[at:min(len(text), at+n)])
			}
			got, anew := streamed(pieces...)
			if got != want || anew != wantAnew && n == 1 {
				t.Errorf("%q in pieces of %d: got %q (anew: %v), want %q (%v)", text, n, got, anew, want, wantAnew)
			}
		}
	}
}

// TestStreamWithholds checks that thinking is not shown while it arrives.
func TestStreamWithholds(t *testing.T) {
	var s modelmarkup.Stream
	for _, p := range []string{" ", "<th", "ink>", "A secret", " thought.", "</thi", "nk>\n"} {
		if out, anew := s.Add(p); out != "" || anew {
			t.Errorf("Add(%q) = %q, %v", p, out, anew)
		}
	}
	if out, _ := s.Add("Hello."); out != "Hello." {
		t.Errorf("got %q", out)
	}
}

// TestStreamLinear checks that a stream of closing tags takes time in proportion to its length.
func TestStreamLinear(t *testing.T) {
	var s modelmarkup.Stream
	for range 1 << 16 {
		s.Add("It says `</think>` there.\n")
	}
	if rest := s.End(); rest != "" {
		t.Errorf("withheld %q", rest)
	}
}
