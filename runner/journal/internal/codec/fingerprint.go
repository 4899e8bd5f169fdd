package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"github.com/seed61713e19/capstan/internal/encodings"
)

// A Fingerprint identifies a request. It is the digest of the request and, if it
// contained secrets, also the digest of the redacted request. Two fingerprints belong
// to the same request if they have a digest in common. So a resumed run
// recognizes its requests even if secrets were added, changed or removed.
type Fingerprint []byte

func newFingerprint(whole, clean Digest) Fingerprint {
	if whole == clean {
		return whole[:]
	}
	return append(whole[:], clean[:]...)
}

// Same reports whether two fingerprints identify the same request. A request without
// a fingerprint is identified by its path alone.
func (p Fingerprint) Same(other Fingerprint) bool {
	const size = len(Digest{})
	if len(p) < size || len(other) < size {
		return len(p) == len(other)
	}
	for i := 0; i+size <= len(p); i += size {
		for k := 0; k+size <= len(other); k += size {
			if bytes.Equal(p[i:i+size], other[k:k+size]) {
				return true
			}
		}
	}
	return false
}

// Clean returns JSON as people see it in the store, independent of the values
// of secrets.
func (s *Secrets) Clean(raw []byte) []byte { return UnsealJSON(s.Redact(raw)) }

// untouched reports whether the redaction changed nothing. In that case clean is the
// slice raw itself.
func untouched(raw, clean []byte) bool {
	return len(raw) == len(clean) && (len(raw) == 0 || &raw[0] == &clean[0])
}

// Fingerprint returns the fingerprint of values, each as JSON.
func (s *Secrets) Fingerprint(values ...any) (Fingerprint, error) {
	whole, clean := sha256.New(), sha256.New()
	for _, v := range values {
		raw, err := encodings.Of(v)
		if err != nil {
			return nil, err
		}
		whole.Write(raw)
		whole.Write([]byte{0})
		clean.Write(s.Clean(raw))
		clean.Write([]byte{0})
	}
	return newFingerprint(sumOf(whole), sumOf(clean)), nil
}

// Digests protect long texts: reading a text verifies its digest. Checksums
// protect the other rows of a run (packs, starts and results). SQLite, and
// PostgreSQL without checksums, return a damaged row without an error.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the checksum of a row with JSON.
func Checksum(data []byte) int64 { return int64(crc32.Checksum(data, castagnoli)) }

// checksum returns the checksum of a pack with this data.
func (k *Pack) checksum(data []byte) int64 {
	head := make([]byte, 0, 128)
	for _, n := range []int64{k.Run, k.First, k.Last, k.Seq, k.Time} {
		head = binary.AppendVarint(head, n)
	}
	head = append(head, k.Path...)
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data))
}
