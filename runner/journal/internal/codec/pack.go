package codec

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Pack is a list of rows that are written together, as one row of the store. Rows and
// events in it are numbered implicitly: row i has the number first+i, and events count
// from seq. The format of a row is described at [shape].
type Pack struct {
	Run, First, Last int64  // numbers of rows
	Seq, Time        int64  // number of the last event before the pack; time of the first row, in nanoseconds
	Path             string // common prefix of the paths
	Data             string
	Sum              int64 // checksum
}

// repeatedPrint replaces the fingerprint of an effect that equals that of the request
// before it.
const repeatedPrint = "="

// NewPack makes a pack of a run's rows, whose numbers must have no gap. before
// is the number of the last event before them.
func NewPack(run, before int64, rows []Row) *Pack {
	k := &Pack{Run: run, First: rows[0].N, Last: rows[len(rows)-1].N, Seq: before, Time: rows[0].Time, Path: rows[0].Path}
	for i := range rows {
		k.Path = commonPrefix(k.Path, rows[i].Path)
	}
	b := []byte{'['}
	for i := range rows {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = k.line(b, rows, i)
	}
	b = append(b, ']')
	k.Data, k.Sum = string(b), k.checksum(b)
	return k
}

// commonPrefix returns the common prefix of two paths in whole characters. For
// draft/é and draft/è it is draft/: the rest of each path becomes a JSON
// string, and half a character would be invalid.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// line appends one row.
func (k *Pack) line(b []byte, rows []Row, i int) []byte {
	w := &rows[i]
	most := make([][]byte, 0, mostElements)
	own := jsonvalue.AppendText(make([]byte, 0, 64), w.Path)
	for j := range shapes {
		s := &shapes[j]
		values, ok := s.fold(w, own, most)
		if !ok {
			continue
		}
		if s.kind == FindingEffect {
			if k := verdictAfter(rows, i, values); k > 0 {
				b = append(jsonvalue.AppendText(append(b, '['), s.letter), ',')
				b = strconv.AppendInt(b, int64(k), 10)
				return append(b, ']')
			}
		}
		b = k.head(b, s.letter, w)
		if s.took {
			b = strconv.AppendInt(append(b, ','), w.Took, 10)
		}
		if s.print {
			b = appendPrint(append(b, ','), rows, i)
		}
		for _, v := range values {
			b = append(append(b, ','), v...)
		}
		return append(b, ']')
	}
	b = k.head(b, w.Kind, w)
	b = strconv.AppendInt(append(b, ','), w.Took, 10)
	b = appendPrint(append(b, ','), rows, i)
	b = append(b, ',')
	if w.Data == nil {
		return append(b, "null]"...)
	}
	return append(append(b, w.Data...), ']')
}

func (k *Pack) head(b []byte, kind string, w *Row) []byte {
	b = jsonvalue.AppendText(append(b, '['), kind)
	b = jsonvalue.AppendText(append(b, ','), w.Path[len(k.Path):])
	return strconv.AppendInt(append(b, ','), w.Time-k.Time, 10)
}

func appendPrint(b []byte, rows []Row, i int) []byte {
	p := rows[i].Fingerprint
	switch {
	case p == nil:
		return append(b, "null"...)
	case i > 0 && rows[i].Path == rows[i-1].Path && rows[i-1].Fingerprint != nil && bytes.Equal(p, rows[i-1].Fingerprint):
		return append(b, `"`+repeatedPrint+`"`...)
	}
	b = base64.RawStdEncoding.AppendEncode(append(b, '"'), p)
	return append(b, '"')
}

// maxVerdictDistance is the maximum distance between a finding and a verdict
// that repeats it. The checks of one moment all finish before the first verdict
// is emitted.
const maxVerdictDistance = 16

// verdictAfter returns the distance from a finding to the verdict with the same
// values, or 0.
func verdictAfter(rows []Row, i int, found [][]byte) int {
	verdict := shapeBy("v")
	for k := i + 1; k < min(i+maxVerdictDistance, len(rows)); k++ {
		if rows[k].Path != rows[i].Path || rows[k].Kind != verdict.kind {
			continue
		}
		values, ok := verdict.fold(&rows[k], jsonvalue.AppendText(nil, rows[k].Path), make([][]byte, 0, mostElements))
		if ok && slices.EqualFunc(values[len(values)-2:], found, bytes.Equal) {
			return k - i
		}
		return 0
	}
	return 0
}

// Rows returns the pack's rows of the wanted kinds; a nil want selects all. ok
// is false if the pack is invalid.
func (k *Pack) Rows(want func(kind string) bool) (list []StoredRow, ok bool) {
	ok, _ = k.Each(0, want, func(l StoredRow) error {
		list = append(list, l)
		return nil
	})
	if !ok {
		return nil, false
	}
	return list, true
}

// Each calls body for the rows after a number, until its first error. It only
// counts the rows before, because a long pack is read in several chunks.
func (k *Pack) Each(after int64, want func(kind string) bool, body func(StoredRow) error) (ok bool, err error) {
	lines, ok := k.lines()
	seq := k.Seq
	for i := 0; ok && i < len(lines) && err == nil; i++ {
		l := StoredRow{Row: k.First + int64(i)}
		s := (*shape)(nil)
		if l.Kind, s, ok = kindOf(lines[i]); !ok {
			break
		}
		if IsEvent(l.Kind) {
			seq++
			l.Seq = seq
		}
		if l.Row <= after || want != nil && !want(l.Kind) {
			continue
		}
		if ok = k.read(&l, s, lines, i); ok {
			err = body(l)
		}
	}
	return ok, err
}

// lines splits the pack into rows. In our own JSON, line ends occur only
// between rows, so nothing needs to be parsed.
func (k *Pack) lines() (list [][]byte, ok bool) {
	data := []byte(k.Data)
	if k.Sum != k.checksum(data) {
		return nil, false
	}
	inner, opened := bytes.CutPrefix(data, []byte("["))
	inner, closed := bytes.CutSuffix(inner, []byte("]"))
	list = bytes.Split(inner, []byte("\n"))
	ok = opened && closed && int64(len(list)) == k.Last-k.First+1
	for i := 0; ok && i < len(list)-1; i++ {
		list[i], ok = bytes.CutSuffix(list[i], []byte(","))
	}
	return list, ok
}

// kindOf returns the kind and the shape of a line.
func kindOf(line []byte) (kind string, s *shape, ok bool) {
	if !bytes.HasPrefix(line, []byte(`["`)) {
		return "", nil, false
	}
	token := line[1 : 1+encodings.TokenEnd(line[1:])]
	if len(token) == 3 {
		if s = shapeBy(string(token[1:2])); s != nil {
			return s.kind, s, true
		}
	}
	return string(encodings.Said(token)), nil, true
}

// read decodes a row from its line.
func (k *Pack) read(l *StoredRow, s *shape, lines [][]byte, i int) (ok bool) {
	line, ok := encodings.Elements(make([][]byte, 0, mostElements), lines[i])
	switch {
	case ok && len(line) == 2 && l.Kind == FindingEffect:
		return k.readFinding(l, lines, i, encodings.Number(line[1]))
	case !ok || len(line) < 3:
		return false
	}
	l.Path = event.Path(k.Path + string(encodings.Said(line[1])))
	l.Time = k.Time + encodings.Number(line[2])
	values := line[3:]
	if s == nil {
		if len(values) != 3 {
			return false
		}
		l.Took, l.Fingerprint = encodings.Number(values[0]), k.fingerprint(lines, i, values[1])
		if data := values[2]; string(data) != "null" {
			l.raw = data
		}
		return true
	}
	if s.took && len(values) > 0 {
		l.Took, values = encodings.Number(values[0]), values[1:]
	}
	if s.print && len(values) > 0 {
		l.Fingerprint, values = k.fingerprint(lines, i, values[0]), values[1:]
	}
	l.shape, l.values = s, slices.Clone(values)
	return s.fits(values)
}

// readFinding decodes a finding from the verdict that repeats it, some rows
// later.
func (k *Pack) readFinding(l *StoredRow, lines [][]byte, i int, behind int64) (ok bool) {
	if behind < 1 || behind >= int64(len(lines)-i) {
		return false
	}
	v, _ := encodings.Elements(make([][]byte, 0, mostElements), lines[i+int(behind)])
	if !shapeBy("v").fits(v[min(3, len(v)):]) || string(v[0]) != `"v"` {
		return false
	}
	// The time of the finding is not stored; the time of the verdict replaces
	// it.
	l.Path, l.Time = event.Path(k.Path+string(encodings.Said(v[1]))), k.Time+encodings.Number(v[2])
	l.shape, l.values = shapeBy("f"), slices.Clone(v[len(v)-2:])
	return true
}

// fingerprint returns the fingerprint of a token, which may refer to an earlier row.
func (k *Pack) fingerprint(lines [][]byte, i int, token []byte) Fingerprint {
	for ; string(token) == `"`+repeatedPrint+`"` && i > 0; i-- {
		at := 4
		if _, s, _ := kindOf(lines[i-1]); s != nil && !s.took {
			at = 3 // a request
		}
		before, _ := encodings.Elements(nil, lines[i-1])
		if len(before) <= at {
			return nil
		}
		token = before[at]
	}
	if string(token) == "null" {
		return nil
	}
	p, _ := base64.RawStdEncoding.DecodeString(string(encodings.Said(token)))
	return p
}

// A Row is a row of the log that is to be written.
type Row struct {
	N, Time, Took int64
	Kind, Path    string
	Fingerprint   Fingerprint
	Data          []byte
}

// A StoredRow is a row of the log that was read: an event, an effect or a mark.
type StoredRow struct {
	Row, Seq, Time, Took int64
	Kind                 string
	Path                 event.Path
	Fingerprint          Fingerprint
	raw                  []byte   // JSON of a row without a shape
	shape                *shape   // nil for a row without a shape
	values               [][]byte // of the shape
}

// JSON returns the row's JSON in a new slice.
func (l *StoredRow) JSON() []byte {
	if l.shape == nil {
		return bytes.Clone(l.raw)
	}
	return l.Peek()
}

// Peek returns the row's JSON, which may share memory with the pack.
func (l *StoredRow) Peek() []byte {
	if l.shape == nil {
		return l.raw
	}
	return l.shape.unfold(l.values, string(l.Path))
}
