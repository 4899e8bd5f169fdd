package clips_test

import (
	"testing"

	"github.com/seed61713e19/capstan/internal/clips"
)

func TestWhole(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "aé": 3, "a\xc3": 1, "🦉": 4, "🦉\xf0": 4, "🦉\xf0\x9f": 4, "🦉\xf0\x9f\xa6": 4, "\xe2": 0,
		"a\xff": 2, "a\x80": 2, "a\x80\x80\x80\x80": 5, "\xc3a": 2, "\xf0\x9fa": 3, "\xc0": 1,
	} {
		if got := clips.Whole(text); got != want || clips.Whole([]byte(text)) != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
