package tool

import "time"

// Options say what the built-in tools may touch. The zero value lets them read
// and write in the working directory, and nothing else.
type Options struct {
	Root      string        // where files are read and written and programs run; empty: the working directory
	Hosts     []string      // that http_get may ask, see [HTTPOptions]
	AllowExec bool          // whether run_command and run_code run anything
	Timeout   time.Duration // of one http_get, run_command or run_code; 0: their own default
}

// Builtins lists the built-in tools. They are there in every run: what is not
// allowed says so when it is called.
func Builtins(o Options) []Tool {
	commands := CommandOptions{Allowed: o.AllowExec, Dir: o.Root, Timeout: o.Timeout}
	return append(Files(o.Root),
		HTTPGet(HTTPOptions{Hosts: o.Hosts, Timeout: o.Timeout}),
		RunCommand(commands), RunCode(commands),
	)
}
