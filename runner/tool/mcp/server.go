package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
)

// A Server says where an MCP server is: a program to start and speak to over
// its standard input and output, or the URL of one that runs and speaks
// streamable HTTP. One of Command and URL must be set.
type Server struct {
	Command []string `json:"command,omitempty"` // the program and its arguments; there is no shell
	Dir     string   `json:"dir,omitempty"`     // the program's working directory; empty: the caller's
	Env     []string `json:"env,omitempty"`     // what the program sees beside the plain variables, as [process.Environment] has it
	URL     string   `json:"url,omitempty"`

	// Headers are sent with every request to URL, and to no other host. In their
	// texts, {{ env.NAME }} stands for a variable of the caller's.
	Headers map[string]string `json:"headers,omitempty"`
}

// lent are the entries by which the server gets variables of the caller's.
func (s Server) lent() []string {
	list := slices.Clone(s.Env)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		list = append(list, name+"="+s.Headers[name])
	}
	return list
}

// String names the server: its program, or its URL without what is secret in
// it.
func (s Server) String() string {
	if len(s.Command) > 0 {
		return path.Base(filepath.ToSlash(s.Command[0]))
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "with a broken URL"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// key tells servers apart.
func (s Server) key() string {
	text, _ := json.Marshal(s) // strings alone cannot fail
	return string(text)
}

func (s Server) check() error {
	command := len(s.Command) > 0 && s.Command[0] != ""
	switch {
	case command && s.URL != "":
		return errors.New("mcp server: command and url are both given")
	case command:
		return nil
	case s.URL == "":
		return errors.New("mcp server: neither command nor url is given")
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("mcp server: %q is not an http or https URL", s.URL)
	}
	return nil
}
