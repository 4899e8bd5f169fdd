package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// killOrder is the input of a child process that dies in the middle of a save.
type killOrder struct {
	DSN  string         `json:"dsn"`
	At   int            `json:"at"` // the statement before which the process dies; 0 means none
	Save map[string]any `json:"save"`
}

// saveAndDie is the main function of the child of TestKilledSave.
func saveAndDie() {
	text, err := os.ReadFile(os.Getenv("SCHEDULE_TEST_KILL"))
	var o killOrder
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	open := &Databases{}
	db, err := open.get(o.DSN)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	n := 0
	db.before = func(string) error {
		if n++; n == o.At {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
		return nil
	}
	set := tool.NewSet(Tools(Options{DSN: o.DSN, VerifyKey: o.Save["verification_key"].(string), Clock: at(noon), Databases: open})...)
	save, _ := set.Find(saveTool)
	r, err := save.Run(context.Background(), tool.Call{Arguments: o.Save})
	if err != nil || r.Failed {
		fmt.Println(r.Text(), err)
		os.Exit(2)
	}
}

// TestKilledSave kills a process before each statement of a save, and before the commit.
// Afterwards the database must contain the complete old week or the complete new week.
func TestKilledSave(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		if r := h.call(saveTool, saving(h.certified(week(54)))); r.Failed {
			t.Fatal(r.Text())
		}
		old := h.stored("ada", demoWeek)
		next := saving(h.certified(priced(17, 130)))
		next["verification_key"] = string(testPublic)
		kills := 0
		for at := 1; ; at++ {
			died := child(t, killOrder{dsn, at, next})
			s := h.stored("ada", demoWeek)
			s.check(t)
			if !died {
				if s.items != 130 || s.revision != 2 {
					t.Errorf("the save that lived left %d items, revision %d", s.items, s.revision)
				}
				break
			}
			kills++
			if s.hash != old.hash || s.revision != 1 {
				t.Errorf("killed before statement %d: revision %d with %d items", at, s.revision, s.items)
			}
		}
		if kills < 9 {
			t.Errorf("died %d times only", kills)
		}
	})
}

// child runs a save in a separate process and reports whether it was killed.
func child(t *testing.T, o killOrder) bool {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/order" + strconv.Itoa(o.At)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "SCHEDULE_TEST_KILL="+file)
	out, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	t.Fatalf("%v: %s", err, out)
	return false
}
