package journal

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
)

// A pack is rows that are written together, as one row of the file. No row has its
// own number in it, nor an event its: the i-th row is first+i, the events count from
// seq on. How a row reads is told above [shape].
type pack struct {
	run, first, last int64  // numbers of rows
	seq, time        int64  // of the last event before it; of its first row, in nanoseconds
	path             string // what the paths of all rows begin with
	data             string
	sum              driver.Value // its checksum; nil where an older capstan wrote it
}

// samePrint is the print of an effect that is that of the request before it, in
// the pack.
const samePrint = "="

// packed makes a pack of a run's rows, which have numbers without a gap. Before
// is the number of the last event that is not among them; scratch is written
// over, and given back as it has grown.
func packed(run, before int64, rows []row, scratch []byte) (k pack, _ []byte) {
	k = pack{run: run, first: rows[0].n, last: rows[len(rows)-1].n, seq: before, time: rows[0].time, path: rows[0].path}
	for i := range rows {
		k.path = common(k.path, rows[i].path)
	}
	b := append(scratch[:0], '[')
	for i := range rows {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = k.line(b, rows, i)
	}
	b = append(b, ']')
	k.data, k.sum = string(b), k.checksum(b)
	return k, b
}

// common is what two paths begin with, up to a whole character: of draft/é and
// draft/è it is draft/, since what is left of each becomes a string of JSON, and half
// a character is none.
func common(a, b string) string {
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
func (k *pack) line(b []byte, rows []row, i int) []byte {
	w := &rows[i]
	most := make([][]byte, 0, mostElements)
	own := model.AppendText(make([]byte, 0, 64), w.path)
	for j := range shapes {
		s := &shapes[j]
		values, ok := s.fold(w, own, most)
		if !ok {
			continue
		}
		if s.kind == findingEffect {
			if k := toldAfter(rows, i, values); k > 0 {
				b = append(model.AppendText(append(b, '['), s.letter), ',')
				b = strconv.AppendInt(b, int64(k), 10)
				return append(b, ']')
			}
		}
		b = k.head(b, s.letter, w)
		if s.took {
			b = strconv.AppendInt(append(b, ','), w.took, 10)
		}
		if s.print {
			b = appendPrint(append(b, ','), rows, i)
		}
		for _, v := range values {
			b = append(append(b, ','), v...)
		}
		return append(b, ']')
	}
	b = k.head(b, w.kind, w)
	b = strconv.AppendInt(append(b, ','), w.took, 10)
	b = appendPrint(append(b, ','), rows, i)
	b = append(b, ',')
	if w.data == nil {
		return append(b, "null]"...)
	}
	return append(append(b, w.data...), ']')
}

func (k *pack) head(b []byte, kind string, w *row) []byte {
	b = model.AppendText(append(b, '['), kind)
	b = model.AppendText(append(b, ','), w.path[len(k.path):])
	return strconv.AppendInt(append(b, ','), w.time-k.time, 10)
}

func appendPrint(b []byte, rows []row, i int) []byte {
	p := rows[i].print
	switch {
	case p == nil:
		return append(b, "null"...)
	case i > 0 && rows[i].path == rows[i-1].path && rows[i-1].print != nil && bytes.Equal(p, rows[i-1].print):
		return append(b, `"`+samePrint+`"`...)
	}
	b = base64.RawStdEncoding.AppendEncode(append(b, '"'), p)
	return append(b, '"')
}

// reach is how far behind a finding its verdict may be to say it for both: those
// of one moment have all found what they find before the first is told of.
const reach = 16

// toldAfter is how many rows behind a finding the verdict stands that it came to,
// in the same words; 0 for none.
func toldAfter(rows []row, i int, found [][]byte) int {
	verdict := shapeBy("v")
	for k := i + 1; k < min(i+reach, len(rows)); k++ {
		if rows[k].path != rows[i].path || rows[k].kind != verdict.kind {
			continue
		}
		values, ok := verdict.fold(&rows[k], model.AppendText(nil, rows[k].path), make([][]byte, 0, mostElements))
		if ok && slices.EqualFunc(values[len(values)-2:], found, bytes.Equal) {
			return k - i
		}
		return 0
	}
	return 0
}

// packColumns begins a query for packs.
func (j *Journal) packColumns() string {
	return "SELECT run, last, first, seq, time, path, data, " + j.says.sum + " FROM pack"
}

func packOf(v []driver.Value) pack {
	k := pack{run: integer(v[0]), last: integer(v[1]), first: integer(v[2]), seq: integer(v[3]), time: integer(v[4]), path: word(v[5])}
	k.data, k.sum = word(v[6]), v[7]
	return k
}

// write adds the pack to the file. One that is there already, because nobody
// heard that it was written, is written over.
func (k *pack) write(c *conn, epoch int64) error {
	return c.send(`INSERT INTO pack (run, last, first, seq, time, epoch, path, data, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, last) DO UPDATE SET first = excluded.first, seq = excluded.seq, time = excluded.time, epoch = excluded.epoch,
		path = excluded.path, data = excluded.data, sum = excluded.sum`, k.run, k.last, k.first, k.seq, k.time, epoch, k.path, k.data, k.sum)
}

// rows gives the pack's rows, of the kinds that are wanted: nil is all. It gives
// false where they do not read.
func (k *pack) rows(want func(kind string) bool) (list []logged, ok bool) {
	ok, _ = k.each(0, want, func(l logged) error {
		list = append(list, l)
		return nil
	})
	if !ok {
		return nil, false
	}
	return list, true
}

// each calls body for the rows behind the one numbered after, up to its first error.
// Those before are only counted: a long pack is come back to for each chunk of it.
func (k *pack) each(after int64, want func(kind string) bool, body func(logged) error) (ok bool, err error) {
	lines, ok := k.lines()
	seq := k.seq
	for i := 0; ok && i < len(lines) && err == nil; i++ {
		l := logged{row: k.first + int64(i)}
		s := (*shape)(nil)
		if l.kind, s, ok = kindOf(lines[i]); !ok {
			break
		}
		if isEvent(l.kind) {
			seq++
			l.seq = seq
		}
		if l.row <= after || want != nil && !want(l.kind) {
			continue
		}
		if ok = k.read(&l, s, lines, i); ok {
			err = body(l)
		}
	}
	return ok, err
}

// lines are the pack's rows as they stand there. Between two rows a line ends, and
// in JSON of our own nowhere else, so that nothing need be parsed to find them.
func (k *pack) lines() (list [][]byte, ok bool) {
	data := []byte(k.data)
	if k.sum != nil && integer(k.sum) != k.checksum(data) {
		return nil, false
	}
	inner, opened := bytes.CutPrefix(data, []byte("["))
	inner, closed := bytes.CutSuffix(inner, []byte("]"))
	list = bytes.Split(inner, []byte("\n"))
	ok = opened && closed && int64(len(list)) == k.last-k.first+1
	for i := 0; ok && i < len(list)-1; i++ {
		list[i], ok = bytes.CutSuffix(list[i], []byte(","))
	}
	return list, ok
}

// kindOf is the kind of a line, and its shape.
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

// read fills a row in from its line.
func (k *pack) read(l *logged, s *shape, lines [][]byte, i int) (ok bool) {
	line, ok := encodings.Elements(make([][]byte, 0, mostElements), lines[i])
	switch {
	case ok && len(line) == 2 && l.kind == findingEffect:
		return k.found(l, lines, i, encodings.Number(line[1]))
	case !ok || len(line) < 3:
		return false
	}
	l.path = event.Path(k.path + string(encodings.Said(line[1])))
	l.time = k.time + encodings.Number(line[2])
	values := line[3:]
	if s == nil {
		if len(values) != 3 {
			return false
		}
		l.took, l.print = encodings.Number(values[0]), k.print(lines, i, values[1])
		if data := values[2]; string(data) != "null" {
			l.raw = data
		}
		return true
	}
	if s.took && len(values) > 0 {
		l.took, values = encodings.Number(values[0]), values[1:]
	}
	if s.print && len(values) > 0 {
		l.print, values = k.print(lines, i, values[0]), values[1:]
	}
	l.shape, l.values = s, slices.Clone(values)
	return s.fits(values)
}

// found fills a finding in from the verdict, so many rows behind it, that says it
// too.
func (k *pack) found(l *logged, lines [][]byte, i int, behind int64) (ok bool) {
	if behind < 1 || behind >= int64(len(lines)-i) {
		return false
	}
	v, _ := encodings.Elements(make([][]byte, 0, mostElements), lines[i+int(behind)])
	if !shapeBy("v").fits(v[min(3, len(v)):]) || string(v[0]) != `"v"` {
		return false
	}
	// The time of the finding is lost, and taken to be its verdict's.
	l.path, l.time = event.Path(k.path+string(encodings.Said(v[1]))), k.time+encodings.Number(v[2])
	l.shape, l.values = shapeBy("f"), slices.Clone(v[len(v)-2:])
	return true
}

// print is the print that a row's token says, or a row before it.
func (k *pack) print(lines [][]byte, i int, token []byte) print {
	for ; string(token) == `"`+samePrint+`"` && i > 0; i-- {
		at := 4
		if _, s, _ := kindOf(lines[i-1]); s != nil && !s.took {
			at = 3 // a request's
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
