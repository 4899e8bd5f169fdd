// Package owners tells who has a run, and whether he may still be at work.
//
// A run that is begun or gone on with is owned by the journal that a process has
// open, whose [Owner] is written beside the run. Whoever finds it there asks
// whether that one lives: [Owner.Alive] looks for the journal in this process, then
// for the process, where its number means anything here. Of a machine that it
// cannot see into it asks whoever may know, who has a lease to look at or somebody's
// word. It starts and stops nothing, and knows nothing of runs or where they are kept.
package owners

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// An Owner is a journal that a process has open, or another engine.
type Owner struct {
	PID   int    `json:"pid"`
	Began string `json:"began,omitempty"` // when the process did, as the system counts: numbers of processes come again
	Key   string `json:"key"`             // of the open journal in the process
	Guest string `json:"guest,omitempty"` // another engine, which is no process and always lives
	Place
}

// A Place is where a process lives: where its number means that process. What
// the system does not tell is "".
type Place struct {
	Host    string `json:"host"`
	Machine string `json:"machine,omitempty"` // a digest of the system's own number of itself
	Boot    string `json:"boot,omitempty"`    // of the kernel's start
	Space   string `json:"pidns,omitempty"`   // the namespace of the process's number
}

// opened are the keys of the journals that this process has open.
var opened sync.Map

// New gives a journal of this process, which lives until it is closed.
func New() Owner {
	o := Owner{PID: os.Getpid(), Began: ownBeginning(), Key: rand.Text(), Place: ownPlace()}
	opened.Store(o.Key, nil)
	return o
}

// What does not change while this process lives is asked of the system once.
var (
	ownBeginning = sync.OnceValue(func() string { return began("self") })
	ownPlace     = sync.OnceValue(here)
)

// here is the place of this process.
func here() Place {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	id, _ := os.ReadFile("/etc/machine-id")
	return Place{Host: host, Machine: machine(id), Boot: string(bytes.TrimSpace(boot)), Space: space}
}

// machine tells of a system's number of itself, which itself is not to be told;
// "" where there is none.
func machine(id []byte) string {
	if id = bytes.TrimSpace(id); len(id) == 0 {
		return ""
	}
	d := sha256.Sum256(append([]byte("capstan "), id...))
	return hex.EncodeToString(d[:8])
}

// Close ends the life of a journal of this process.
func (o Owner) Close() { opened.Delete(o.Key) }

// Open tells of a journal that this process has open.
func (o Owner) Open() bool {
	_, open := opened.Load(o.Key)
	return open
}

// String names the owner in words, for people.
func (o Owner) String() string {
	if o.Guest != "" {
		return o.Guest
	}
	return fmt.Sprintf("process %d on %s", o.PID, o.Host)
}

// Text is the owner as a store has it, which [Read] reads.
func (o Owner) Text() string {
	raw, _ := json.Marshal(o)
	return string(raw)
}

// Read reads an owner; of one that does not read the Key is "".
func Read(text string) (o Owner) {
	if json.Unmarshal([]byte(text), &o) != nil {
		return Owner{}
	}
	return o
}

// Alive reads an owner and tells whether it may still be at work, as o sees it. Of
// one whose place o cannot see into, elsewhere tells. One that does not read does not
// live.
func (o Owner) Alive(text string, elsewhere func(Owner) bool) (Owner, bool) {
	other := Read(text)
	if other.Key == "" || other.Guest != "" {
		return other, other.Guest != ""
	}
	if other.Open() {
		return other, true
	}
	switch o.sight(other.Place) {
	case over:
		return other, false
	case hidden:
		return other, elsewhere(other)
	}
	if other.PID == o.PID && other.Began == o.Began {
		return other, false // it was a journal of this process, which is closed
	}
	return other, living(other)
}

// What can be told of the processes of a place.
type sight int

const (
	hidden sight = iota // nothing: it is another machine, or another namespace
	near                // each: it is here
	over                // that all are gone: the machine was started anew
)

// sight tells what p can see of another place. The name of a host alone says
// little: it counts only where the systems told nothing else.
func (p Place) sight(other Place) sight {
	switch {
	case p.Boot == "" && other.Boot == "", other.Boot == "" && other.Space == "": // no Linux, or written before places were
		if p.Host == other.Host {
			return near
		}
	case p.Boot == other.Boot && p.Space == other.Space:
		return near
	case p.Boot != other.Boot && p.Boot != "" && p.Host == other.Host && p.Machine == other.Machine && p.Machine != "":
		return over
	}
	return hidden
}

// living tells whether a process of this place is there still.
func living(o Owner) bool {
	if self, err := os.Readlink("/proc/self"); o.Began != "" && err == nil && self == strconv.Itoa(os.Getpid()) {
		return began(strconv.Itoa(o.PID)) == o.Began
	}
	// There is no /proc, or it is that of another namespace.
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// began is when a process began, "" where that cannot be told or there is no
// such process. The name in the file may hold spaces and brackets.
func began(pid string) string {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat") // where there is none it has no fields
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, start = 3, 22                          // as proc(5) numbers them
	if len(fields) <= start-state || fields[0] == "Z" { // dead, and not waited for yet
		return ""
	}
	return fields[start-state]
}
