package journal

import (
	"database/sql/driver"
	"encoding/binary"
	"hash/crc32"
)

// Long texts are addressed by their digest, which is verified when they are read. The
// other rows that a run is made of (packs, starts and results) have a checksum. SQLite
// and PostgreSQL without checksums of their own return a damaged row as it is.

// sums is the first version of the tables of a file that has checksums.
const sums = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of a row with JSON.
func checksum(data []byte) int64 { return int64(crc32.Checksum(data, castagnoli)) }

// checksum returns the checksum of a pack whose data is that, as bytes.
func (k *pack) checksum(data []byte) int64 {
	head := make([]byte, 0, 128)
	for _, n := range []int64{k.run, k.first, k.last, k.seq, k.time} {
		head = binary.AppendVarint(head, n)
	}
	head = append(head, k.path...)
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data))
}

// verified returns the JSON of a row, or an error if its checksum is another. What names
// the row in the error.
func (j *Journal) verified(what string, data, sum driver.Value) ([]byte, error) {
	raw := []byte(word(data))
	if sum != nil && integer(sum) != checksum(raw) {
		return nil, j.garbled(what+" is not what was written", nil)
	}
	return raw, nil
}
