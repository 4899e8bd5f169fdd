package tool

import (
	"fmt"
	"os"
	"testing"
)

func TestScanIsBounded(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for i := range 5 {
		if err := root.WriteFile(fmt.Sprint(i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]string{4: "4 true", 5: "5 false", 9: "5 false"} {
		entries, more, err := scan(root, ".", most)
		if got := fmt.Sprint(len(entries), more); err != nil || got != want {
			t.Errorf("of %d: got %s, %v", most, got, err)
		}
	}
}
