//go:build unix && !linux

package files

// OneName returns an error if a file can be reached under a second name, a hard link. A database
// that stores its log beside its file would have two logs. A missing file has one name.
func OneName(name string) error { return linked(name) }
