package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPVerify checks that a client can verify a text with the operator's
// trusted keys.
func TestMCPVerify(t *testing.T) {
	vectors, err := os.ReadFile("../../internal/receipts/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name, Receipt, Public, Verdict string
		Text                           []byte
	}
	if err := json.Unmarshal(vectors, &list); err != nil {
		t.Fatal(err)
	}
	pub := filepath.Join(t.TempDir(), "public.pem")
	if err := os.WriteFile(pub, []byte(list[0].Public), 0o600); err != nil {
		t.Fatal(err)
	}
	session := serveMCP(t.Context(), t, nil, "--pub", pub, "--tool", "verify").client(t, nil)
	passed := 0
	for _, v := range list {
		if v.Public != list[0].Public {
			continue
		}
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "verify", Arguments: map[string]any{"text": string(v.Text), "receipt": v.Receipt}})
		if err != nil {
			t.Fatal(err)
		}
		content, _ := r.Content[0].(*sdk.TextContent)
		if r.IsError || !strings.Contains(content.Text, `"verdict":"`+v.Verdict+`"`) {
			t.Errorf("%s: want %s in %s", v.Name, v.Verdict, content.Text)
		}
		if v.Verdict == "passed" {
			passed++
		}
	}
	if passed == 0 {
		t.Error("no vector passes")
	}
}
