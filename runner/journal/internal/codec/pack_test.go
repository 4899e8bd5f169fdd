package codec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/event"
)

// A finding without values must have its verdict after it. A wrong distance
// means that the pack is damaged.
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
		var l StoredRow
		l.Kind = FindingEffect
		if got := (&Pack{Path: "p/", Time: 5}).read(&l, shapeBy("f"), lines, 0); got != ok || ok && (string(l.Path) != "p/ward[0]" || l.Time != 12 || string(l.JSON()) != `{"finding":{"verdict":{"valid":true,"reason":"so"}}}`) {
			t.Errorf("%s: got %v, %+v", other, got, l)
		}
	}
	for _, behind := range []string{"0", "-1", "2", "3", `"1"`} {
		lines := [][]byte{[]byte(verdict), []byte(`["f",` + behind + `]`), []byte(verdict)}
		if l := (StoredRow{Kind: FindingEffect}); new(Pack).read(&l, shapeBy("f"), lines, 1) {
			t.Errorf("a verdict %s behind is found", behind)
		}
	}
}

// A pack stores the common prefix of all paths once, in whole characters.
func TestCommon(t *testing.T) {
	for _, c := range [][3]string{
		{"p/a", "p/b", "p/"}, {"p", "p/x", "p"}, {"p/x", "p", "p"}, {"a", "b", ""}, {"a", "a", "a"}, {"aé", "aè", "a"}, {"é", "è", ""}, {"aé", "a", "a"}, {"", "a", ""},
	} {
		if got := commonPrefix(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q begin with %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// A pack repeats nothing: prefixes of paths, the print of a reply, or a finding
// that a near verdict repeats.
func TestPackText(t *testing.T) {
	const so, other = `{"finding":{"verdict":{"valid":true,"reason":"so"}}}`, `{"finding":{"verdict":{"valid":false,"reason":"so"}}}`
	verdict := func(at, more string) string {
		return `{"verdict":{"path":"p/` + at + `","phase":"p","attempt":1,"turn":0,"moment":"post","validator":"v","mode":"retry","valid":true,"reason":"so"` + more + `,"error":null}}`
	}
	var rows []Row
	add := func(kind, at, print, data string) {
		w := Row{N: int64(len(rows) + 7), Time: int64(1000 + 2*len(rows)), Kind: kind, Path: "p/" + at}
		if data != "" {
			w.Data = []byte(data)
		}
		if print != "" {
			w.Fingerprint = []byte(print)
		}
		rows = append(rows, w)
	}
	add(string(event.ModelCalled), "model", "asked", `{"phase":"p","attempt":1,"turn":0,"request":{"model":"m","phase":"p","attempt":1,"messages":[]}}`)
	add(ModelEffect, "model", "asked", `{"model":"m","phase":"p","attempt":1,"response":{"text":"Hi"}}`)
	add(ModelEffect, "other", "asked", `{"model":"m","phase":"p","attempt":1,"turn":2,"response":{"text":"Hi"}}`)
	rows[1].Took, rows[2].Took = 17, 18
	add(FindingEffect, "next", "", so) // its verdict is the next row
	add(string(event.VerdictGiven), "next", "", verdict("next", ""))
	add(FindingEffect, "none", "", so)
	add(FindingEffect, "other", "", other)
	add(string(event.Feedback), "other", "", `{}`)
	add(string(event.VerdictGiven), "other", "", verdict("other", ""))
	add(FindingEffect, "more", "", so)
	add(string(event.VerdictGiven), "more", "", verdict("more", `,"score":1`))
	add(FindingEffect, "late", "", so)
	add(FindingEffect, "near", "", so) // the maximum distance
	for range 14 {
		add(ProcessStarts, "", "", "")
	}
	add(string(event.VerdictGiven), "near", "", verdict("near", ""))
	add(string(event.VerdictGiven), "late", "", verdict("late", ""))
	k := NewPack(1, 0, rows)
	starts := ""
	for i := range 14 {
		starts += fmt.Sprintf(`["process_started","",%d,0,null,null],`+"\n", 26+2*i)
	}
	const verdictRow = `,"p",1,0,"post","v","retry",true,"so"],` + "\n"
	storytest.Same(t, "pack", fmt.Sprintf("%d %d %d %s\n%s", k.First, k.Last, k.Time, k.Path, k.Data), `7 35 1000 p/
[["b","model",0,"YXNrZWQ","p",1,0,"m",[]],
["k","model",2,17,"=","m","p",1,{"text":"Hi"}],
["n","other",4,18,"YXNrZWQ","m","p",1,2,{"text":"Hi"}],
["f",1],
["v","next",8`+verdictRow+`["f","none",10,true,"so"],
["f","other",12,false,"so"],
["feedback","other",14,0,null,{}],
["v","other",16`+verdictRow+`["f","more",18,true,"so"],
["verdict","more",20,0,null,`+verdict("more", `,"score":1`)+`],
["f","late",22,true,"so"],
["f",15],
`+starts+`["v","near",54`+verdictRow+`["v","late",56`+strings.TrimSuffix(verdictRow, ",\n")+"]")
}

// A repeated print is read from its first row.
func TestPrintOfMany(t *testing.T) {
	var rows []Row
	for i := range 4 {
		rows = append(rows, Row{N: int64(i + 1), Kind: ModelEffect, Path: "p/model", Fingerprint: Fingerprint("asked"), Data: []byte(`{"b":1}`)})
	}
	k := NewPack(1, 0, rows)
	list, ok := k.Rows(nil)
	if !ok || len(list) != len(rows) {
		t.Fatal(k.Data)
	}
	for _, l := range list {
		if string(l.Fingerprint) != "asked" {
			t.Errorf("row %d has the print %q", l.Row, l.Fingerprint)
		}
	}
	var behind []StoredRow // rows before it are only read if they are looked up, and rows after the last wanted one are not read
	enough := errors.New("enough")
	ok, err := k.Each(2, nil, func(l StoredRow) error { behind = append(behind, l); return enough })
	if !ok || !errors.Is(err, enough) || !reflect.DeepEqual(behind, list[2:3]) {
		t.Errorf("behind row 2: %+v, %v %v", behind, ok, err)
	}
}
