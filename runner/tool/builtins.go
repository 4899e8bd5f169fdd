package tool

import "time"

// Options are the permissions of the built-in tools. The zero value allows only files in
// the working directory.
type Options struct {
	Root string // the directory of files and programs; "" for the working directory

	// Hosts are the hosts for http_get: "example.com", "*.example.com" for its
	// subdomains, or "192.0.2.7". A host may have a port. A private address must be in
	// the list itself, even if a name in the list resolves to it. The name localhost
	// allows the loopback addresses.
	Hosts     []string
	AllowExec bool          // whether run_command and run_code are allowed
	Timeout   time.Duration // the limit for one call of http_get, run_command or run_code; 0 for the default of the tool
}

// Builtins returns the built-in tools: read_file, write_file, list_files, http_get,
// run_command and run_code. A call without permission fails.
func Builtins(o Options) []Tool {
	return append(fileTools(o.Root), httpGetTool(o), runCommandTool(o), runCodeTool(o))
}
