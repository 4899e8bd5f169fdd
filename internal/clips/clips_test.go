package clips_test

import (
	"testing"

	"github.com/seed61713e19/capstan/internal/clips"
)

func TestCuts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{clips.Bytes("four", 4), "four"},
		{clips.Bytes("fivee", 4), "five…"},
		{clips.Bytes("thré…", 4), "thr…"},
		{clips.Sized("four", 4), "four"},
		{clips.Sized("thré…", 4), "thr… (8 bytes)"},
		{clips.Chars("öäüß", 4), "öäüß"},
		{clips.Chars("öäüßx", 4), "öäü…"},
		{clips.Tail("four", 9), "four"},
		{clips.Tail("the end", 3), "end"},
		{clips.Tail("é!", 2), "!"},
		{clips.Tail("é", 1), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
