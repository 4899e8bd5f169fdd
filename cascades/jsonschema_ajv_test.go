package cascades

import (
	"encoding/json"
	"os"
	program "os/exec"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
)

// TestJSONSchemaIsStrict compiles the schema, with and without known names, in
// the strict mode of ajv. Editors and CI use this mode. The schema must accept
// valid files and reject invalid files.
func TestJSONSchemaIsStrict(t *testing.T) {
	if _, err := program.LookPath("npm"); err != nil || testing.Short() {
		t.Skip("there is no node here: the schema is not tried with ajv")
	}
	dir := t.TempDir()
	npm := program.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", "--prefer-offline", "ajv@8")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("ajv cannot be had here: %v\n%s", err, out)
	}
	script := `const Ajv = require('ajv/dist/2020'); const fs = require('fs');
const read = name => JSON.parse(fs.readFileSync(name));
const checks = ['cascade.schema.json', 'names.schema.json'].map(name => new Ajv({strict: true}).compile(read(name)));
const ward = post => ({cascade_id: 'x', phases: [{name: 'a', instructions: 'x', wards: {post: [post]}}]});
const file = timeout => ({cascade_id: 'x', phases: [{name: 'a', instructions: 'x', rules: {timeout}}]});
for (const check of checks) {
  for (const good of ['90s', '1h30m', '1.5h', '.5s', '90', 90, '250ms']) if (!check(file(good))) throw new Error('refuses ' + good);
  for (const bad of ['soon', '90x', '', 's', '-3s', true]) if (check(file(bad))) throw new Error('takes ' + bad);
  const right = read('right.json');
  for (const name in right) if (!check(right[name])) throw new Error('refuses ' + name + ': ' + JSON.stringify(check.errors));
  for (const [name, wrong] of Object.entries(read('wrong.json'))) if (check === checks[1] && check(wrong)) throw new Error('takes ' + name);
}
if (!checks[1](ward({validator: 'max_length', with: {max: '{{ input.n }}'}}))) throw new Error('refuses a template');
if (checks[1](ward({validator: 'max_length', with: {max: 'many'}}))) throw new Error('takes a text for a number');`
	right, wrong := map[string]any{}, map[string]any{}
	for name, source := range rightFiles(t) {
		right[name] = asPlain(t, source)
	}
	for _, name := range glob(t, "testdata/bad/*.yaml") {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if yaml.Unmarshal(source, &v) != nil || unseen[filepath.Base(name)] != "" {
			continue
		}
		if plain, err := schema.Plain(v); err == nil {
			wrong[name] = plain
		}
	}
	withNames, err := JSONSchemaOf(known())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]any{
		"cascade.schema.json": json.RawMessage(JSONSchema()), "names.schema.json": json.RawMessage(withNames), "right.json": right, "wrong.json": wrong,
	} {
		encoded, err := json.Marshal(text)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), encoded, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	node := program.CommandContext(t.Context(), "node", "-e", script)
	node.Dir = dir
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
