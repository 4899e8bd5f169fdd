package runner_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// decoders are the files that read JSON with encoding/json. All other JSON is
// read by internal/schema, because encoding/json changes numbers to float64.
// Models, users and tools may send any number. A new file in this list must
// read into types without numbers.
var decoders = []string{
	"cascades/syntax/json.go", "internal/redactions/redactions.go", "runner/event/event.go", "internal/encodings/encodings.go", "runner/journal/internal/owners/owner.go", "runner/journal/reopen.go",
	"internal/mcpserver/clean.go", "internal/mcpserver/wire.go", "runner/model/model.go", "runner/model/extra.go", "runner/model/params.go",
	"runner/model/internal/protocol/json.go", "runner/model/openai/question.go", "runner/model/openai/responses.go", "runner/model/openai/responses_reply.go",
	"runner/tool/mcp/bounded.go", "runner/tool/mcp/exact.go", "runner/tool/mcp/lines.go",
	"internal/receipts/issue.go", "internal/receipts/source.go", "internal/receipts/verify.go", "internal/signatures/envelope.go", "internal/signatures/trust.go",
	"validators/request/form.go",
	"validators/request/inspectors/tab.go", "validators/request/parse.go", "internal/schema/extract.go",
	"internal/schema/unmarshal.go", "internal/schema/value.go", "validators/verdict.go",
}

// otherModule reports whether the folder is a module of its own.
func otherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func TestOneReaderOfJSON(t *testing.T) {
	call := regexp.MustCompile(`\bjson\.(Unmarshal|NewDecoder)\(`)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != ".." && otherModule(name) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		file := strings.TrimPrefix(filepath.ToSlash(name), "../")
		if call.Match(source) && !slices.Contains(decoders, file) {
			t.Errorf("%s reads JSON without internal/schema", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
