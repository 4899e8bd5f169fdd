package owners

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// An owner that is gone does not hold its run. An owner that cannot be checked
// does, unless runs may be taken over.
func TestOwnerGone(t *testing.T) {
	me := New()
	defer me.Close()
	if me.Boot == "" || me.Space == "" || me.Started == "" {
		t.Skipf("the system does not tell of processes: %+v", me)
	}
	at := func(change func(p *Place)) Place {
		p := me.Place
		p.Machine = "this"
		change(&p)
		return p
	}
	same := func(*Place) {}
	me.Machine = "this"
	const dead, lives, unknown = "gone", "lives", "unknown"
	for name, c := range map[string]struct {
		o    Owner
		want string
	}{
		"me":                        {me, lives},
		"closed":                    {Owner{PID: me.PID, Started: me.Started, Key: "another", Place: at(same)}, dead},
		"number came again":         {Owner{PID: 1, Started: "0000", Key: "k", Place: at(same)}, dead},
		"known by its number alone": {Owner{PID: 1, Key: "k", Place: at(same)}, lives},
		"this one by its number":    {Owner{PID: me.PID, Key: "k", Place: at(same)}, lives},
		"first process":             {Owner{PID: 1, Started: startTime("1"), Key: "k", Place: at(same)}, lives},
		"no such process":           {Owner{PID: 1 << 30, Key: "k", Place: at(same)}, dead},
		"host got another name":     {Owner{PID: 1, Started: startTime("1"), Key: "k", Place: at(func(p *Place) { p.Host = "new" })}, lives},
		"elsewhere":                 {Owner{PID: 1, Key: "k", Place: at(func(p *Place) { *p = Place{Host: "elsewhere"} })}, unknown},
		"elsewhere on Linux":        {Owner{PID: 1, Key: "k", Place: at(func(p *Place) { p.Host, p.Boot, p.Machine = "elsewhere", "b", "m" })}, unknown},
		"another namespace":         {Owner{PID: me.PID, Started: me.Started, Key: "k", Place: at(func(p *Place) { p.Space = "pid:[1]" })}, unknown},
		"a namesake":                {Owner{PID: me.PID, Started: me.Started, Key: "k", Place: at(func(p *Place) { p.Boot, p.Machine = "b", "m" })}, unknown},
		"a namesake without one":    {Owner{PID: me.PID, Started: me.Started, Key: "k", Place: at(func(p *Place) { p.Boot, p.Machine = "b", "" })}, unknown},
		"before the machine fell":   {Owner{PID: me.PID, Started: me.Started, Key: "k", Place: at(func(p *Place) { p.Boot, p.Space = "b", "pid:[1]" })}, dead},
		"a start that is not told":  {Owner{PID: 1 << 30, Key: "k", Place: Place{Host: me.Host, Space: me.Space}}, unknown},
		"of an older capstan":       {Owner{PID: 1, Started: startTime("1"), Key: "k", Place: Place{Host: me.Host}}, lives},
		"of an older one, gone":     {Owner{PID: 1, Started: "0000", Key: "k", Place: Place{Host: me.Host}}, dead},
	} {
		for _, takes := range []bool{false, true} {
			unseen := func(Owner) bool { return !takes }
			if _, got := me.Alive(c.o.Text(), unseen); got != (c.want == lives || c.want == unknown && !takes) {
				t.Errorf("%s, takes %v: alive is %v", name, takes, got)
			}
		}
	}
	for _, text := range []string{"", "{broken", "{}", "null", "[]", `{"key":"k","pid":"x"}`} {
		if _, alive := me.Alive(text, nil); alive {
			t.Errorf("an owner that does not read lives: %q", text)
		}
	}
	// Without other data the host name counts; otherwise missing data means
	// unknown.
	bare := Owner{PID: os.Getpid(), Key: "bare", Place: Place{Host: "h", Space: "s"}}
	for p, want := range map[Place]bool{
		{Host: "h"}: false, {Host: "h", Space: "s"}: false, {Host: "other"}: true, {Host: "other", Space: "s"}: true, {Host: "h", Boot: "b", Space: "s"}: true,
	} {
		if _, alive := bare.Alive(Owner{PID: 1 << 30, Key: "k", Place: p}.Text(), func(Owner) bool { return true }); alive != want {
			t.Errorf("owner with a host name only, ended process at %+v: alive is %v", p, alive)
		}
	}
}

// Owners written by this version and by older ones can be read.
func TestText(t *testing.T) {
	o := Owner{PID: 7, Started: "42", Key: "k", Place: Place{Host: "h", Machine: "m", Boot: "b", Space: "s"}}
	for text, want := range map[string]Owner{
		`{"pid":7,"started":"42","key":"k","host":"h","machine":"m","boot":"b","pid_namespace":"s"}`: o,
		`{"pid":0,"key":"external","external":"temporal","host":""}`:                                 {Key: "external", Engine: "temporal"},
	} {
		if got := want.Text(); got != text || Read(text) != want {
			t.Errorf("%+v is %s, which reads as %+v", want, got, Read(text))
		}
	}
}

// Missing ids are not equal to each other, and no id is revealed.
func TestMachine(t *testing.T) {
	if machineDigest(nil) != "" || machineDigest([]byte(" \n")) != "" {
		t.Error("no number is a machine's")
	}
	one, same, other := machineDigest([]byte("b08dfa6083e7567a\n")), machineDigest([]byte("b08dfa6083e7567a")), machineDigest([]byte("c08dfa6083e7567a"))
	if one != same || one == other || len(one) != 16 || one == "b08dfa6083e7567a" {
		t.Errorf("got %s, %s and %s", one, same, other)
	}
}

// The start time of a process is its own, constant, and in the past.
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
	mine := startTime("self")
	ticks, err := strconv.ParseFloat(mine, 64) // a hundred per second on every platform of Linux
	if err != nil || ticks <= 0 || ticks/100 > most+1 {
		t.Errorf("it began at %q, of %v seconds", mine, most)
	}
	if again := startTime(strconv.Itoa(os.Getpid())); again != mine || mine == startTime("1") {
		t.Errorf("it began at %s and %s, the first process at %s", mine, again, startTime("1"))
	}
	if got := startTime("0"); got != "" {
		t.Errorf("no process began at %q", got)
	}
}
