package journal

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
)

// A finding that is said by its verdict has one behind it: where it points
// elsewhere, at less or at nothing, the pack is damaged.
func TestFindingWithoutItsVerdict(t *testing.T) {
	const verdict = `["v","ward[0]",7,"p",1,0,"post","tone","retry",true,"so"]`
	for other, ok := range map[string]bool{
		verdict:                             true,
		`["v","p/ward[0]",0,"p"]`:           false,
		`["v","p/ward[0]",0,true,"so"]`:     false,
		`["feedback","p",0,0,null,{"a":1}]`: false,
		`["v"`:                              false,
		`{}`:                                false,
	} {
		lines := [][]byte{[]byte(`["f",1]`), []byte(other)}
		var l logged
		l.kind = findingEffect
		if got := (&pack{path: "p/", time: 5}).read(&l, shapeBy("f"), lines, 0); got != ok || ok && (string(l.path) != "p/ward[0]" || l.time != 12 || string(l.json()) != `{"finding":{"verdict":{"valid":true,"reason":"so"}}}`) {
			t.Errorf("%s: got %v, %+v", other, got, l)
		}
	}
	for _, behind := range []string{"0", "-1", "2", `"1"`} {
		lines := [][]byte{[]byte(`["f",` + behind + `]`), []byte(verdict)}
		if l := (logged{kind: findingEffect}); new(pack).read(&l, shapeBy("f"), lines, 0) {
			t.Errorf("a verdict %s behind is found", behind)
		}
	}
}

// What all paths of a pack begin with stands there once, in whole characters.
func TestCommon(t *testing.T) {
	for _, c := range [][3]string{
		{"p/a", "p/b", "p/"}, {"p", "p/x", "p"}, {"p/x", "p", "p"}, {"a", "b", ""}, {"a", "a", "a"}, {"aé", "aè", "a"}, {"é", "è", ""}, {"aé", "a", "a"}, {"", "a", ""},
	} {
		if got := common(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q begin with %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// A reply has the print of its request, and a finding says what its verdict does:
// either stands there once.
func TestToldOnce(t *testing.T) {
	rows := []row{
		{n: 1, kind: string(event.ModelCalled), path: "p/model", print: print("asked"), data: []byte(`{"a":1}`)},
		{n: 2, kind: modelEffect, path: "p/model", print: print("asked"), data: []byte(`{"b":1}`)},
		{n: 3, kind: findingEffect, path: "p/ward[0]", data: []byte(`{"finding":{"verdict":{"valid":true,"reason":"so"}}}`)},
		{n: 4, kind: string(event.Feedback), path: "p/ward[0]", data: []byte(`{}`)},
		{n: 5, kind: string(event.VerdictGiven), path: "p/ward[0]", data: []byte(`{"verdict":{"path":"p/ward[0]","phase":"p","attempt":1,"turn":0,"moment":"turn","validator":"v","mode":"retry","valid":true,"reason":"so","error":null}}`)},
	}
	if k, _ := packed(1, 0, rows, nil); !strings.Contains(k.data, `"="`) || !strings.Contains(k.data, `["f",2]`) {
		t.Errorf("it stands there twice: %s", k.data)
	}
}

// Of several rows with one print each reads it, through those before it.
func TestPrintOfMany(t *testing.T) {
	var rows []row
	for i := range 4 {
		rows = append(rows, row{n: int64(i + 1), kind: modelEffect, path: "p/model", print: print("asked"), data: []byte(`{"b":1}`)})
	}
	k, _ := packed(1, 0, rows, nil)
	list, ok := k.rows(nil)
	if !ok || len(list) != len(rows) {
		t.Fatal(k.data)
	}
	for _, l := range list {
		if string(l.print) != "asked" {
			t.Errorf("row %d has the print %q", l.row, l.print)
		}
	}
}
