package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
)

// resolve returns the absolute address of a reference.
func resolve(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%s is no address", strconv.Quote(clips.Bytes(base, maxShown)))
	}
	r, err := url.Parse(ref)
	if err != nil {
		return "", fmt.Errorf("%s is no address", strconv.Quote(clips.Bytes(ref, maxShown)))
	}
	if ref != "" && ref[0] == '#' {
		return base + ref, nil // works for a base without a path too, such as a urn
	}
	return b.ResolveReference(r).String(), nil
}

// lookUp returns the value at a JSON pointer.
func lookUp(v any, at string) (any, bool) {
	if at == "" {
		return v, true
	}
	for _, part := range strings.Split(at, "/")[1:] {
		switch in := v.(type) {
		case map[string]any:
			found, ok := in[untoken.Replace(part)]
			if !ok {
				return nil, false
			}
			v = found
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) || strconv.Itoa(i) != part {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

var (
	untoken = strings.NewReplacer("~1", "/", "~0", "~")
	tokens  = strings.NewReplacer("~", "~0", "/", "~1")
)

// token escapes a name as a part of a JSON pointer.
func token(name string) string { return tokens.Replace(name) }
