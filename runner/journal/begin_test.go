package journal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

// childBegin begins a run when its input ends, and says what came of it.
func childBegin() {
	j, err := Open(os.Getenv(fileVariable), Options{})
	if err == nil {
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
		_, err = j.Begin(runner.Start{RunID: "run", CascadeID: "c"})
	}
	fmt.Println(err)
	os.Exit(0)
}

// Of processes that begin a run of one name at the same time one has it.
func TestBeginAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	journalAt(t, file, Options{}).Close()
	const many = 4
	var said [many]bytes.Buffer
	var list [many]*exec.Cmd
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	for i := range list {
		list[i] = child(t, "begin", file, 0)
		list[i].Stdin, list[i].Stdout = read, &said[i]
		if err := list[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	write.Close()
	begun := 0
	for i, c := range list {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		switch words := said[i].String(); {
		case strings.HasSuffix(words, "<nil>\n"):
			begun++
		case !strings.Contains(words, runner.ErrRunExists.Error()):
			t.Errorf("one said %s", words)
		}
	}
	if begun != 1 {
		t.Errorf("%d have begun it", begun)
	}
}
