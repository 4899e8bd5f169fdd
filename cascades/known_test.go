package cascades

import (
	"context"
	"os"
	"runtime/debug"
	"testing"

	"github.com/seed61713e19/capstan/cascades/cascadestest"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// TestMain has garbage collected seldom: of the many files that are read here little
// lives on, and a fifth of the time was spent on finding that out. The hostile ones
// are to take no more memory for it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(400 << 20)
	m.Run()
}

// known is what the test cascades may name.
func known() Known {
	return Known{Validators: cascadestest.Validators(), Tools: cascadestest.Tools(), Remote: nowhere{}}
}

// nowhere makes what it is asked for of servers that are not there: loading
// reaches none.
type nowhere struct{}

func (nowhere) Validator(_ Server, name string) validators.Validator {
	return validators.New(name, "Asks a server.", func(context.Context, map[string]any, validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, os.ErrNotExist
	}, validators.Impure)
}

func (nowhere) Tool(s Server, name string) tool.Tool {
	if s.URL != "" && s.Dir != "" {
		panic("what is asked over HTTP is in no folder")
	}
	return cascadestest.Distant(name)
}

var (
	folder = cascadestest.Folder
	files  = cascadestest.Files
	glob   = cascadestest.Glob
)

// parsed is a cascade that has nothing wrong with it.
func parsed(t testing.TB, source string, texts map[string]string) *Cascade {
	t.Helper()
	c, err := Parse("test.yaml", []byte(source), files(texts), known())
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, source)
	}
	return c
}

// found is what is wrong with a text.
func found(t testing.TB, name, source string) Diagnostics {
	t.Helper()
	_, err := Parse(name, []byte(source), files(nil), known())
	if err == nil {
		return nil
	}
	return err.(Diagnostics)
}
