package main

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// socket returns the path of a Unix socket that an address names, "" for an address of
// TCP. A path that begins with @ is a file as well: an abstract socket has no mode.
func socket(addr string) string {
	path, ok := strings.CutPrefix(addr, "unix:")
	switch {
	case !ok:
		return ""
	case strings.HasPrefix(path, "@"):
		return "./" + path
	}
	return path
}

// listen opens the address of a server. Only the owner of the process may connect to a
// Unix socket. A socket file that no process listens on is replaced.
func listen(addr string) (net.Listener, error) {
	path := socket(addr)
	if path == "" {
		return net.Listen("tcp", addr)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(path) // a process that was killed has left it
		}
	}
	return listenPrivately(path)
}

// serverFlags are the address and the token of a server.
type serverFlags struct{ addr, token, tokenFile string }

func (f *serverFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:7070", "address of the server: host:port, or unix:PATH for a socket of your user alone")
	flags.StringVar(&f.token, "token", "", "token of the server (default CAPSTAN_TOKEN)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token, with mode 0600")
}

// serverToken returns the token of a server: of --token, of the file of --token-file,
// or of the environment.
func (c *Command) serverToken(f serverFlags) (string, error) {
	if f.tokenFile == "" {
		return cmp.Or(f.token, c.Getenv("CAPSTAN_TOKEN")), nil
	}
	if f.token != "" {
		return "", usage("--token and --token-file: want one of them")
	}
	text, err := readSecretFile("--token-file", f.tokenFile)
	if err != nil {
		return "", err
	}
	token := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if token == "" {
		return "", usage("--token-file: %s is empty", f.tokenFile)
	}
	return token, nil
}

// readSecretFile reads a file that a flag names. Only its owner may have access.
func readSecretFile(flag, file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, usage("%s: %w", flag, err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, usage("%s: %s may be read by others (%#o): chmod 600 %s", flag, file, mode, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("%s: %w", flag, err)
	}
	return text, nil
}
