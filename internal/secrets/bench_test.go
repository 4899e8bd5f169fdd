package secrets

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sources returns a megabyte of Go's standard library, if it is installed.
func sources(b *testing.B) string {
	var text strings.Builder
	for _, dir := range []string{"net/http", "crypto/tls", "go/types", "encoding"} {
		_ = filepath.WalkDir(filepath.Join(build.Default.GOROOT, "src", dir), func(name string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && text.Len() < 1<<20 {
				source, _ := os.ReadFile(name)
				text.Write(source)
			}
			return nil
		})
	}
	if text.Len() < 1<<20 {
		b.Skip("no sources of Go")
	}
	return text.String()[:1<<20]
}

// BenchmarkIn reads a megabyte of code, and a megabyte of worst cases.
func BenchmarkIn(b *testing.B) {
	texts := map[string]string{"code": sources(b)}
	for _, unit := range []string{"=", "a", `"`, "\n", "token=", `"token":"`, "-eyJ", "-eyJaaaaaaaa.eyJaaaaaaaa", "/ABSK", "-glpat-", "ZXlK ", "://a:", "curl -u ", "-sk-", "key.key:"} {
		texts["many "+strings.TrimSpace(unit)] = strings.Repeat(unit, 1<<20/len(unit))
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for range In(text) {
					continue
				}
			}
		})
	}
}
