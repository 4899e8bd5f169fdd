package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// An owner that is not there any more does not hold its run; one of whom
// nothing can be told does, unless it is taken over.
func TestOwnerGone(t *testing.T) {
	me := newOwner(false)
	defer me.gone()
	if me.Boot == "" || me.Space == "" || me.Began == "" {
		t.Skipf("the system does not tell of processes: %+v", me)
	}
	at := func(change func(p *place)) place {
		p := me.place
		p.Machine = "this"
		change(&p)
		return p
	}
	same := func(*place) {}
	me.Machine = "this"
	const gone, lives, unknown = "gone", "lives", "unknown"
	for name, c := range map[string]struct {
		o    owner
		want string
	}{
		"me":                        {me, lives},
		"closed":                    {owner{PID: me.PID, Began: me.Began, Key: "another", place: at(same)}, gone},
		"number came again":         {owner{PID: 1, Began: "0000", Key: "k", place: at(same)}, gone},
		"known by its number alone": {owner{PID: 1, Key: "k", place: at(same)}, lives},
		"this one by its number":    {owner{PID: me.PID, Key: "k", place: at(same)}, lives},
		"first process":             {owner{PID: 1, Began: began("1"), Key: "k", place: at(same)}, lives},
		"no such process":           {owner{PID: 1 << 30, Key: "k", place: at(same)}, gone},
		"host got another name":     {owner{PID: 1, Began: began("1"), Key: "k", place: at(func(p *place) { p.Host = "new" })}, lives},
		"elsewhere":                 {owner{PID: 1, Key: "k", place: at(func(p *place) { *p = place{Host: "elsewhere"} })}, unknown},
		"elsewhere on Linux":        {owner{PID: 1, Key: "k", place: at(func(p *place) { p.Host, p.Boot, p.Machine = "elsewhere", "b", "m" })}, unknown},
		"another namespace":         {owner{PID: me.PID, Began: me.Began, Key: "k", place: at(func(p *place) { p.Space = "pid:[1]" })}, unknown},
		"a namesake":                {owner{PID: me.PID, Began: me.Began, Key: "k", place: at(func(p *place) { p.Boot, p.Machine = "b", "m" })}, unknown},
		"a namesake without one":    {owner{PID: me.PID, Began: me.Began, Key: "k", place: at(func(p *place) { p.Boot, p.Machine = "b", "" })}, unknown},
		"before the machine fell":   {owner{PID: me.PID, Began: me.Began, Key: "k", place: at(func(p *place) { p.Boot, p.Space = "b", "pid:[1]" })}, gone},
		"a start that is not told":  {owner{PID: 1 << 30, Key: "k", place: place{Host: me.Host, Space: me.Space}}, unknown},
		"of an older capstan":       {owner{PID: 1, Began: began("1"), Key: "k", place: place{Host: me.Host}}, lives},
		"of an older one, gone":     {owner{PID: 1, Began: "0000", Key: "k", place: place{Host: me.Host}}, gone},
	} {
		for _, takes := range []bool{false, true} {
			unseen := func(owner) bool { return !takes }
			if _, got := me.alive(c.o.text(), unseen); got != (c.want == lives || c.want == unknown && !takes) {
				t.Errorf("%s, takes %v: alive is %v", name, takes, got)
			}
		}
	}
	for _, text := range []string{"", "{broken", "{}", "null", "[]", `{"key":"k","pid":"x"}`} {
		if _, alive := me.alive(text, nil); alive {
			t.Errorf("an owner that does not read lives: %q", text)
		}
	}
	// A system that tells nothing has the name of its host; of one that tells of a
	// start it does not know more.
	bare := owner{PID: os.Getpid(), Key: "bare", place: place{Host: "h", Space: "s"}}
	for p, want := range map[place]bool{
		{Host: "h"}: false, {Host: "h", Space: "s"}: false, {Host: "other"}: true, {Host: "other", Space: "s"}: true, {Host: "h", Boot: "b", Space: "s"}: true,
	} {
		if _, alive := bare.alive(owner{PID: 1 << 30, Key: "k", place: p}.text(), func(owner) bool { return true }); alive != want {
			t.Errorf("where only hosts are told, a process that is gone at %+v: alive is %v", p, alive)
		}
	}
}

// Two stores of one server that are mixed up: a run of the one is no run of the other,
// which neither shows it nor goes on with it, and may have one of that name.
func TestTwoStores(t *testing.T) {
	serverOnly(t)
	one, other := journalAt(t, at(t, filepath.Join(t.TempDir(), "a.db")), Options{}), journalAt(t, at(t, filepath.Join(t.TempDir(), "b.db")), Options{TakeOver: true})
	begin(t, one, runner.Start{RunID: "run"})
	paused(t, one)
	_, shown := other.Run(t.Context(), "run")
	_, reopened := other.Reopen("run")
	for what, err := range map[string]error{"shown": shown, "gone on with": reopened, "answered": other.Answer(t.Context(), "run", runner.Answer{Value: "x"})} {
		if !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("it is %s: %v", what, err)
		}
	}
	overdue(t, one)
	if gone, err := other.Abandoned(t.Context()); err != nil || len(gone) > 0 {
		t.Errorf("got %v, %v", gone, err)
	}
	if err := begin(t, other, runner.Start{RunID: "run"}).End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Error(err)
	}
	if run, err := one.Run(t.Context(), "run"); err != nil || run.Finished != nil {
		t.Errorf("got %+v, %v", run, err)
	}
}

// Systems without a number are not taken for one, and none's is told.
func TestMachine(t *testing.T) {
	if machine(nil) != "" || machine([]byte(" \n")) != "" {
		t.Error("no number is a machine's")
	}
	one, same, other := machine([]byte("b08dfa6083e7567a\n")), machine([]byte("b08dfa6083e7567a")), machine([]byte("c08dfa6083e7567a"))
	if one != same || one == other || len(one) != 16 || one == "b08dfa6083e7567a" {
		t.Errorf("got %s, %s and %s", one, same, other)
	}
}

// When a process began is its own, the same whenever it is asked, and before now.
func TestBegan(t *testing.T) {
	up, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skip(err)
	}
	seconds, _, _ := strings.Cut(string(up), " ")
	most, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		t.Fatal(err)
	}
	mine := began("self")
	ticks, err := strconv.ParseFloat(mine, 64) // a hundred in a second, on every platform of Linux
	if err != nil || ticks <= 0 || ticks/100 > most+1 {
		t.Errorf("it began at %q, of %v seconds", mine, most)
	}
	if again := began(strconv.Itoa(os.Getpid())); again != mine || mine == began("1") {
		t.Errorf("it began at %s and %s, the first process at %s", mine, again, began("1"))
	}
	if got := began("0"); got != "" {
		t.Errorf("no process began at %q", got)
	}
}
