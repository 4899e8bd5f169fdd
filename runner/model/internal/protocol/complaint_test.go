package protocol_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// The table maps an error type without a status to the status.
func TestErrorTable(t *testing.T) {
	table, err := os.ReadFile("tables/errors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		status, _ := strconv.Atoi(cells[1])
		for i, want := range map[int]int{3: status, 4: 0} {
			body := fmt.Appendf(nil, `{"type":"error","error":{"type":%q,"message":"m"}}`, cells[i])
			if f := protocol.Reported(protocol.ParseComplaint(body), body); f.Status != want || status == 0 || cells[2] == "" {
				t.Errorf("%s: %s has status %d", row, cells[i], f.Status)
			}
		}
	}
}
