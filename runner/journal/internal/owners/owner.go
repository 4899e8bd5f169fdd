// Package owners identifies the process that owns a run and checks whether that process
// still exists.
//
// A start of a run belongs to the open journal of a process. Its [Owner] is
// stored beside the run. [Owner.Alive] reads the text of another owner and
// checks whether that owner still exists. It checks the journals of this
// process, and then the process number if it is meaningful here. For other
// machines it calls a function of the caller, which may check a lease:
//
//	owner := owners.New()
//	other, alive := owner.Alive(row.owner, func(owners.Owner) bool { return true })
//
// The package does not start or stop processes, and it does not read runs. Begin with
// Owner.Alive.
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

// An Owner is the open journal of a process, or another engine.
type Owner struct {
	PID     int    `json:"pid"`
	Started string `json:"started,omitempty"`  // start time of the process in the system's units; process numbers are reused
	Key     string `json:"key"`                // of the open journal in the process
	Engine  string `json:"external,omitempty"` // name of another engine, which is not a process and counts as alive
	Place
}

// A Place is the scope of a process number. Unknown fields are empty.
type Place struct {
	Host    string `json:"host"`
	Machine string `json:"machine,omitempty"`       // digest of the machine's id
	Boot    string `json:"boot,omitempty"`          // id of the kernel's start
	Space   string `json:"pid_namespace,omitempty"` // the namespace of process numbers
}

// openJournals are the keys of the open journals of this process.
var openJournals sync.Map

// New returns the owner for a journal of this process. It is alive until Close.
func New() Owner {
	o := Owner{PID: os.Getpid(), Started: ownStartTime(), Key: rand.Text(), Place: ownPlace()}
	openJournals.Store(o.Key, nil)
	return o
}

// These values never change within a process.
var (
	ownStartTime = sync.OnceValue(func() string { return startTime("self") })
	ownPlace     = sync.OnceValue(localPlace)
)

// localPlace returns the place of this process.
func localPlace() Place {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	id, _ := os.ReadFile("/etc/machine-id")
	return Place{Host: host, Machine: machineDigest(id), Boot: string(bytes.TrimSpace(boot)), Space: space}
}

// machineDigest returns a digest of the machine's id, because the id itself must stay
// secret. It returns "" for an empty id.
func machineDigest(id []byte) string {
	if id = bytes.TrimSpace(id); len(id) == 0 {
		return ""
	}
	d := sha256.Sum256(append([]byte("capstan "), id...))
	return hex.EncodeToString(d[:8])
}

// Close ends the life of a journal of this process.
func (o Owner) Close() { openJournals.Delete(o.Key) }

// Open reports whether the journal is open in this process.
func (o Owner) Open() bool {
	_, open := openJournals.Load(o.Key)
	return open
}

// String returns a description of the owner for people.
func (o Owner) String() string {
	if o.Engine != "" {
		return o.Engine
	}
	return fmt.Sprintf("process %d on %s", o.PID, o.Host)
}

// Text returns the stored form of the owner, which [Read] reads.
func (o Owner) Text() string {
	raw, _ := json.Marshal(o)
	return string(raw)
}

// Read parses the stored form of an owner. The Key of the result is empty if it
// is invalid.
func Read(text string) (o Owner) {
	if json.Unmarshal([]byte(text), &o) != nil {
		return Owner{}
	}
	return o
}

// Alive parses an owner and reports whether it could still be running. For a place that
// o cannot see into, it calls elsewhere. An invalid owner is not alive.
func (o Owner) Alive(text string, elsewhere func(Owner) bool) (Owner, bool) {
	other := Read(text)
	if other.Key == "" || other.Engine != "" {
		return other, other.Engine != ""
	}
	if other.Open() {
		return other, true
	}
	switch o.knowledge(other.Place) {
	case restarted:
		return other, false
	case unknown:
		return other, elsewhere(other)
	}
	if other.PID == o.PID && other.Started == o.Started {
		return other, false // a closed journal of this process
	}
	return other, processExists(other)
}

// knowledge describes what the system reveals about the processes of a place.
type knowledge int

const (
	unknown   knowledge = iota // nothing: another machine or namespace
	local                      // everything: this place
	restarted                  // all have ended: the machine was restarted
)

// knowledge returns what p can know about another place. The host name alone
// counts only if no other field is known.
func (p Place) knowledge(other Place) knowledge {
	switch {
	case p.Boot == "" && other.Boot == "", other.Boot == "" && other.Space == "": // not Linux, or written by an old version
		if p.Host == other.Host {
			return local
		}
	case p.Boot == other.Boot && p.Space == other.Space:
		return local
	case p.Boot != other.Boot && p.Boot != "" && p.Host == other.Host && p.Machine == other.Machine && p.Machine != "":
		return restarted
	}
	return unknown
}

// processExists reports whether a process of this place still exists.
func processExists(o Owner) bool {
	if self, err := os.Readlink("/proc/self"); o.Started != "" && err == nil && self == strconv.Itoa(os.Getpid()) {
		return startTime(strconv.Itoa(o.PID)) == o.Started
	}
	// /proc is missing or belongs to another namespace.
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// startTime returns the start time of a process, or "" if it is unknown or the
// process does not exist. The name in the file may contain spaces and brackets.
func startTime(pid string) string {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat") // a missing file has no fields
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, start = 3, 22                          // numbers of fields in proc(5)
	if len(fields) <= start-state || fields[0] == "Z" { // ended, but not reaped yet
		return ""
	}
	return fields[start-state]
}
