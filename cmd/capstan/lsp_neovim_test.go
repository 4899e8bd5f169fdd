package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// neovim is a script that opens a broken cascade and waits for diagnostics. It
// completes half a key, applies the fix, and writes the answers of the server.
const neovim = `
local out = {}
local function done() vim.fn.writefile(out, 'out.txt') vim.cmd('qa!') end
vim.cmd('edit flow.yaml')
local id = vim.lsp.start_client({name = 'capstan', cmd = {os.getenv('CAPSTAN'), 'lsp'}, root_dir = vim.fn.getcwd()})
vim.lsp.buf_attach_client(0, id)
if not vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20) then table.insert(out, 'nothing was told') done() end
for _, d in ipairs(vim.diagnostic.get(0)) do table.insert(out, string.format('%d:%d %s', d.lnum, d.col, d.message)) end
local place = {textDocument = {uri = vim.uri_from_bufnr(0)}, position = {line = 3, character = 8}}
local r = vim.lsp.buf_request_sync(0, 'textDocument/completion', place, 20000)
for _, item in ipairs(r[id].result) do if item.label == 'instructions' then table.insert(out, 'offered instructions') end end
r = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', {textDocument = place.textDocument, range = {start = place.position, ['end'] = place.position}, context = {diagnostics = {}}}, 20000)
vim.lsp.util.apply_workspace_edit(r[id].result[1].edit, 'utf-16')
vim.wait(20000, function() return #vim.diagnostic.get(0) == 0 end, 20)
table.insert(out, 'left: ' .. #vim.diagnostic.get(0))
for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do table.insert(out, line) end
done()
`

// itself returns the path of this test binary under the name capstan. Under
// that name it runs capstan.
func itself(t testing.TB) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "capstan")
	if err := os.Symlink(self, program); err != nil {
		t.Skip(err)
	}
	return program
}

// TestLanguageServerInNeovim runs the language server in Neovim.
func TestLanguageServerInNeovim(t *testing.T) {
	if _, err := exec.LookPath("nvim"); err != nil {
		t.Skip("there is no nvim here: the language server is tried with a client of the test's own alone")
	}
	program := itself(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"flow.yaml": "cascade_id: flow\nphases:\n  - name: a\n    instrutions: Write.\n",
		"drive.lua": neovim,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile drive.lua")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CAPSTAN="+program, "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, _ := os.ReadFile(filepath.Join(dir, "out.txt"))
	want := "2:4 phase a needs instructions, tool, compose or together\n3:4 phase a has no key \"instrutions\", did you mean \"instructions\"?\noffered instructions\nleft: 0\ncascade_id: flow\nphases:\n  - name: a\n    instructions: Write.\n"
	if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
