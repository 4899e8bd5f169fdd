package cascades

import (
	"context"
	"os"
	"runtime/debug"
	"testing"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// TestMain sets a high GOGC. The tests read many files and retain little, and
// the collector took a fifth of the time. Hostile files must not take more
// memory for it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(400 << 20)
	m.Run()
}

// known returns the names that the test cascades may use.
func known() Known {
	return Known{Validators: cascadestest.Validators(), Tools: cascadestest.Tools(), Remote: nowhere{}}
}

// nowhere has the validators and tools of servers that do not exist. Loading
// must not connect to a server.
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

// parsed parses a valid cascade.
func parsed(t testing.TB, source string, texts map[string]string) *Cascade {
	t.Helper()
	c, err := Parse("test.yaml", []byte(source), files(texts), known())
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, source)
	}
	return c
}

// found returns the diagnostics of an invalid text.
func found(t testing.TB, name, source string) syntax.Diagnostics {
	t.Helper()
	_, err := Parse(name, []byte(source), files(nil), known())
	if err == nil {
		return nil
	}
	return err.(syntax.Diagnostics)
}
