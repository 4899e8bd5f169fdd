package inspectors

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/hints"
)

// Limits of a mention.
const (
	maxWords = 1000
	maxPaths = 10
)

// wrapping is the punctuation around a path in a text.
const wrapping = "`\"'“”‘’()[]<>,;:!?*."

// mention searches a part that declares no check. If a word of it, or of the description, is
// the path of a file of the worktree, the file becomes evidence, which decides nothing.
func (c check) mention(_ context.Context, n *inspection) finding {
	var found []string
	words := strings.Fields(c.Text + " " + n.at.Description[:min(len(n.at.Description), hints.MaxHint)])
	for _, word := range words[:min(len(words), maxWords)] {
		name := strings.TrimRight(strings.TrimLeft(word, strings.Trim(wrapping, ".")), wrapping)
		if slices.Contains(found, name) || len(found) == maxPaths || !n.addFile(name) {
			continue
		}
		found = append(found, name)
	}
	if found == nil {
		return open("%q declares no check", clip(c.Text+" "+n.at.Description, 300))
	}
	return open("%s found; whether %q holds needs judgement", strings.Join(found, ", "), clip(n.at.Description, 300))
}

// addFile adds a regular file of the worktree to the evidence. It reports whether the path
// leads to a regular file.
func (n *inspection) addFile(name string) bool {
	if n.tree == nil || n.request.ValidationType == request.Browser || name == "" {
		return false
	}
	at, err := n.tree.Local(name)
	if err != nil {
		return false
	}
	info, err := n.tree.Stat(at)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return false
	}
	exists, size := true, info.Size()
	note := fmt.Sprintf("named by %s", clip(n.at.ID, 100))
	n.evidence.FileChecks = append(n.evidence.FileChecks, request.FileCheck{Path: at, Exists: &exists, SizeBytes: &size, Note: note})
	return true
}
