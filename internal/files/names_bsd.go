//go:build unix && !linux

package files

// OneName returns an error if a file can be reached under a second name, a hard link. A
// database that keeps its log beside its name would have two logs. A file that does not
// exist has one name.
func OneName(name string) error { return linked(name) }
