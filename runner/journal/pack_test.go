package journal

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine/enginetest"
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
	for _, behind := range []string{"0", "-1", "2", "3", `"1"`} {
		lines := [][]byte{[]byte(verdict), []byte(`["f",` + behind + `]`), []byte(verdict)}
		if l := (logged{kind: findingEffect}); new(pack).read(&l, shapeBy("f"), lines, 1) {
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

// A pack says what its rows say and nothing twice: what paths begin with, a reply's
// print where it is its request's, and a finding where the verdict that it came to is
// not far behind and in the same words.
func TestPackText(t *testing.T) {
	const so, other = `{"finding":{"verdict":{"valid":true,"reason":"so"}}}`, `{"finding":{"verdict":{"valid":false,"reason":"so"}}}`
	verdict := func(at, more string) string {
		return `{"verdict":{"path":"p/` + at + `","phase":"p","attempt":1,"turn":0,"moment":"post","validator":"v","mode":"retry","valid":true,"reason":"so"` + more + `,"error":null}}`
	}
	var rows []row
	add := func(kind, at, print, data string) {
		w := row{n: int64(len(rows) + 7), time: int64(1000 + 2*len(rows)), kind: kind, path: "p/" + at}
		if data != "" {
			w.data = []byte(data)
		}
		if print != "" {
			w.print = []byte(print)
		}
		rows = append(rows, w)
	}
	add(string(event.ModelCalled), "model", "asked", `{"phase":"p","attempt":1,"turn":0,"request":{"model":"m","phase":"p","attempt":1,"said":[]}}`)
	add(modelEffect, "model", "asked", `{"model":"m","phase":"p","attempt":1,"response":{"text":"Hi"}}`)
	add(modelEffect, "other", "asked", `{"model":"m","phase":"p","attempt":1,"turn":2,"response":{"text":"Hi"}}`)
	rows[1].took, rows[2].took = 17, 18
	add(findingEffect, "next", "", so) // its verdict is the row behind
	add(string(event.VerdictGiven), "next", "", verdict("next", ""))
	add(findingEffect, "none", "", so)
	add(findingEffect, "other", "", other)
	add(string(event.Feedback), "other", "", `{}`)
	add(string(event.VerdictGiven), "other", "", verdict("other", ""))
	add(findingEffect, "more", "", so)
	add(string(event.VerdictGiven), "more", "", verdict("more", `,"score":1`))
	add(findingEffect, "late", "", so)
	add(findingEffect, "near", "", so) // as far as a verdict may be
	for range 14 {
		add(legBegins, "", "", "")
	}
	add(string(event.VerdictGiven), "near", "", verdict("near", ""))
	add(string(event.VerdictGiven), "late", "", verdict("late", ""))
	k, _ := packed(1, 0, rows, nil)
	leg := ""
	for i := range 14 {
		leg += fmt.Sprintf(`["leg","",%d,0,null,null],`+"\n", 26+2*i)
	}
	const said = `,"p",1,0,"post","v","retry",true,"so"],` + "\n"
	enginetest.Same(t, "pack", fmt.Sprintf("%d %d %d %s\n%s", k.first, k.last, k.time, k.path, k.data), `7 35 1000 p/
[["b","model",0,"YXNrZWQ","p",1,0,"m",[]],
["k","model",2,17,"=","m","p",1,{"text":"Hi"}],
["n","other",4,18,"YXNrZWQ","m","p",1,2,{"text":"Hi"}],
["f",1],
["v","next",8`+said+`["f","none",10,true,"so"],
["f","other",12,false,"so"],
["feedback","other",14,0,null,{}],
["v","other",16`+said+`["f","more",18,true,"so"],
["verdict","more",20,0,null,`+verdict("more", `,"score":1`)+`],
["f","late",22,true,"so"],
["f",15],
`+leg+`["v","near",54`+said+`["v","late",56`+strings.TrimSuffix(said, ",\n")+"]")
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
	var behind []logged // the rows before it are not read, but for what is looked up there, nor those behind the last that is wanted
	ok, err := k.each(2, nil, func(l logged) error { behind = append(behind, l); return errEnough })
	if !ok || !errors.Is(err, errEnough) || !reflect.DeepEqual(behind, list[2:3]) {
		t.Errorf("behind row 2: %+v, %v %v", behind, ok, err)
	}
}
