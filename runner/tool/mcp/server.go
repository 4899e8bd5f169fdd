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

// A Server is the address of an MCP server: the Command of a program with the stdio
// transport, or the URL of a server with the streamable HTTP transport. One of them
// must be set.
type Server struct {
	Command []string `json:"command,omitempty"` // the program and its arguments, without a shell
	Dir     string   `json:"dir,omitempty"`     // the working directory of the program; "" for that of the process
	Env     []string `json:"env,omitempty"`     // environment variables in addition to the default ones, see [process.Environment]
	URL     string   `json:"url,omitempty"`

	// Headers are the headers of each request to the URL. Redirects to other hosts do
	// not get them. {{ env.NAME }} in a value is replaced by an environment variable.
	Headers map[string]string `json:"headers,omitempty"`
}

// lent returns the entries that pass environment variables to the server.
func (s Server) lent() []string {
	list := slices.Clone(s.Env)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		list = append(list, name+"="+s.Headers[name])
	}
	return list
}

// String returns the name of the program, or the URL without secrets.
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

// key returns a text that identifies the server.
func (s Server) key() string {
	text, _ := json.Marshal(s) // strings can always be encoded
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
