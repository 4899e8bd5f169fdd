package testcases

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
)

// layout returns a place for every file below one folder. The first place is that of the first
// file. Relative names between the files stay valid, because only the folders above all files are
// removed. Absolute names that a file contains are returned in mapped with their places.
func layout(files []cascades.File) (places []string, mapped map[string]string) {
	absolute := path.IsAbs(files[0].Name)
	var trees [][]string
	for _, f := range files {
		if path.IsAbs(f.Name) == absolute {
			trees = append(trees, strings.Split(strings.TrimPrefix(path.Clean(f.Name), "/"), "/"))
		}
	}
	above := common(trees)
	up := 0
	for _, t := range trees {
		up = max(up, parents(t[above:]))
	}
	mapped = map[string]string{}
	for _, f := range files {
		place := path.Join("absolute", path.Base(f.Name))
		if path.IsAbs(f.Name) == absolute {
			t := strings.Split(strings.TrimPrefix(path.Clean(f.Name), "/"), "/")[above:]
			n := parents(t)
			place = path.Join(append(slices.Repeat([]string{"here"}, up-n), t[n:]...)...)
		} else {
			place = free(place, func(p string) bool { return slices.Contains(places, p) })
		}
		places = append(places, place)
		if path.IsAbs(f.Name) && (!absolute || spelled(f.Name, files)) {
			mapped[f.Name] = place
		}
	}
	return places, mapped
}

// common returns the number of leading folders that all names share.
func common(trees [][]string) int {
	n := len(trees[0]) - 1
	for _, t := range trees {
		n = min(n, len(t)-1)
		for i := range n {
			if t[i] != trees[0][i] {
				n = i
				break
			}
		}
	}
	return n
}

// parents returns the number of leading "..".
func parents(t []string) int {
	n := 0
	for n < len(t) && t[n] == ".." {
		n++
	}
	return n
}

// spelled reports whether a file contains a name.
func spelled(name string, files []cascades.File) bool {
	return slices.ContainsFunc(files, func(f cascades.File) bool { return bytes.Contains(f.Text, []byte(name)) })
}
