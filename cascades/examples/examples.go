// Package examples holds the cascades that come with Capstan, each with a
// script of replies, NAME.scripted.yaml, that it runs with without a key.
package examples

import "embed"

// Files are the cascades, their scripts and what these name.
//
//go:embed *.yaml *.sh edit_* *.json
var Files embed.FS
