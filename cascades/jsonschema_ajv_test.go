package cascades

import (
	"os"
	program "os/exec"
	"path/filepath"
	"testing"
)

// TestJSONSchemaIsStrict holds the schema against the strict mode of ajv, which
// editors and CI use, and tries its durations there.
func TestJSONSchemaIsStrict(t *testing.T) {
	if _, err := program.LookPath("npm"); err != nil || testing.Short() {
		t.Skip("there is no node here: the schema is not tried with ajv")
	}
	dir := t.TempDir()
	npm := program.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", "ajv@8")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("ajv cannot be had here: %v\n%s", err, out)
	}
	script := `const Ajv = require('ajv/dist/2020'); const fs = require('fs');
const check = new Ajv({strict: true}).compile(JSON.parse(fs.readFileSync('cascade.schema.json')));
const file = timeout => ({cascade_id: 'x', phases: [{name: 'a', instructions: 'x', rules: {timeout}}]});
for (const good of ['90s', '1h30m', '1.5h', '.5s', '90', 90, '250ms']) if (!check(file(good))) throw new Error('refuses ' + good);
for (const bad of ['soon', '90x', '', 's', '-3s', true]) if (check(file(bad))) throw new Error('takes ' + bad);`
	for name, text := range map[string][]byte{"cascade.schema.json": JSONSchema(), "check.js": []byte(script)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	node := program.CommandContext(t.Context(), "node", "check.js")
	node.Dir = dir
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
