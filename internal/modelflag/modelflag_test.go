package modelflag_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/modelflag"
)

// TestModels holds that the last default of the flag counts before the environment's, that
// other names are replaced in addition, and that a script is next to the cascade.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		flags             []string
		environment, want string
	}{
		{nil, "env", "env"}, {nil, "", ""}, {[]string{"a", "b"}, "env", "b"}, {[]string{"a=b", "c=d"}, "", "c=d\na=b"},
		{[]string{"a=b"}, "env", "env\na=b"}, {[]string{"a"}, "c=d", "a\nc=d"}, {[]string{"a=b", "c"}, "", "c\na=b"},
		{[]string{"scripted"}, "", "scripted:dir/post.scripted.yaml"}, {[]string{"a=scripted"}, "", "a=scripted:dir/post.scripted.yaml"},
		{[]string{"scripted:a=b.yaml"}, "", "SCRIPTED:A=B.YAML"}, {[]string{"replay:x"}, "", "REPLAY:X"}, {nil, "scripted", "scripted:dir/post.scripted.yaml"},
	} {
		var m modelflag.Models
		for _, text := range c.flags {
			if err := m.Set(text); err != nil {
				t.Fatal(err)
			}
		}
		loud := func(name string) string {
			if strings.Contains(name, ":") {
				return strings.ToUpper(name)
			}
			return name
		}
		if got := m.Chosen(c.environment, "dir/post.yaml", loud); got != c.want {
			t.Errorf("%q and %q: got %q, want %q", c.flags, c.environment, got, c.want)
		}
	}
	for _, text := range []string{"a\nb", "=b", "a=", " =b", "a\r"} {
		if err := new(modelflag.Models).Set(text); err == nil {
			t.Errorf("%q may be said", text)
		}
	}
}
