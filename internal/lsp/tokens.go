package lsp

import (
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// A token is a key or a text of a file. Each line of a text is a token.
type token struct {
	path       []string // keys from the top, [0] for the entries of lists; the path of a text has its own key
	key        bool
	text       string // as the file has it, with escapes
	line       int    // from 0
	start, end int    // in characters, within the quotes
}

// name returns the last name of the path.
func (t token) name() string {
	if len(t.path) == 0 {
		return ""
	}
	return t.path[len(t.path)-1]
}

// maxDepth is the maximum length of a path.
const maxDepth = 200

// tokensOf returns the keys and texts of a file, in file order.
func tokensOf(f *syntax.File) []token {
	root, _ := f.Tree()
	w := &tokenWalk{file: f}
	for _, n := range root.Content {
		w.value(n, nil)
	}
	return w.tokens
}

// A tokenWalk collects the tokens of a tree.
type tokenWalk struct {
	file   *syntax.File
	tokens []token
}

func (w *tokenWalk) value(n *yaml.Node, path []string) {
	switch {
	case len(path) > maxDepth:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind == yaml.ScalarNode {
				w.text(key, path, true)
			} else {
				w.value(key, path)
			}
			w.value(value, append(slices.Clip(path), key.Value))
		}
	case n.Kind == yaml.SequenceNode:
		for i, entry := range n.Content {
			w.value(entry, append(slices.Clip(path), "["+strconv.Itoa(i)+"]"))
		}
	default:
		w.text(n, path, false)
	}
}

func (w *tokenWalk) text(n *yaml.Node, path []string, key bool) {
	for _, part := range w.file.Texts(n) {
		start, end := part.Start.Column-1, part.End.Column-1
		w.tokens = append(w.tokens, token{path, key, w.file.Slice(part), part.Start.Line - 1, start, end})
	}
}
