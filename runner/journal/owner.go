package journal

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// An owner is the process that runs a run.
type owner struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Began string `json:"began,omitempty"` // when the process did, as the system counts: numbers of processes come again
	Key   string `json:"key"`             // of the open journal in the process

	takes bool // what is on other machines counts as gone
}

// opened are the keys of the journals that this process has open.
var opened sync.Map

func newOwner(takes bool) owner {
	host, _ := os.Hostname()
	o := owner{PID: os.Getpid(), Host: host, Began: began(os.Getpid()), Key: rand.Text(), takes: takes}
	opened.Store(o.Key, true)
	return o
}

func (o owner) gone() { opened.Delete(o.Key) }

func (o owner) String() string { return fmt.Sprintf("process %d on %s", o.PID, o.Host) }

// text is the owner as the file has it.
func (o owner) text() string {
	raw, _ := json.Marshal(o)
	return string(raw)
}

// alive reads an owner and tells whether it may still be at work. Of another
// machine nothing can be told, so it may, unless o takes over what is there.
func (o owner) alive(text string) (owner, bool) {
	var other owner
	if text == "" || json.Unmarshal([]byte(text), &other) != nil {
		return other, false
	}
	if other.Host != o.Host {
		return other, !o.takes
	}
	if other.PID == o.PID && other.Began == o.Began {
		_, open := opened.Load(other.Key)
		return other, open
	}
	if other.Began != "" {
		return other, began(other.PID) == other.Began
	}
	p, err := os.FindProcess(other.PID)
	if err != nil {
		return other, false
	}
	err = p.Signal(syscall.Signal(0))
	return other, !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// began is when a process began, "" where that cannot be told or there is no
// such process. The name in the file may hold spaces and brackets.
func began(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, start = 3, 22 // as proc(5) numbers them
	if len(fields) <= start-state || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[start-state]
}
