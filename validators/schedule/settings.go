package schedule

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/runner/signatures"
)

// Settings are what the operator has set in a database for its gatekeeper.
type Settings struct {
	Phase     int    `json:"gatekeeper_phase"` // 1 saves with warnings what has no good certificate, 2 refuses it
	VerifyKey string `json:"verification_key"` // public keys as PEM without its frame, parted by blanks; "": each call has to give one
	ID        string `json:"database_id"`      // names the database in certificates; a copy of it has the same
}

// Settings reads them. The phase is 2 unless it was set to 1.
func (db *DB) Settings(ctx context.Context) (s Settings, err error) {
	err = db.reading(ctx, func(t tx) error {
		s, err = t.settings()
		return err
	})
	return s, err
}

// SetPhase sets the gatekeeper's phase: 1 saves with warnings what has no good
// certificate, 2 refuses it.
func (db *DB) SetPhase(ctx context.Context, phase int) error {
	if phase != 1 && phase != 2 {
		return fmt.Errorf("gatekeeper phase must be 1 or 2, not %d", phase)
	}
	return db.set(ctx, phaseSetting, strconv.Itoa(phase))
}

// SetVerifyKey sets the keys that verify certificates in this database: public
// keys as PEM, one behind the other, or the name of their file. From then on no
// option, parameter or argument can bring another.
func (db *DB) SetVerifyKey(ctx context.Context, key string) error {
	trusted, err := trustedKeys(key)
	if err != nil {
		return err
	}
	if len(trusted) == 0 {
		return errors.New("verification key: there is none")
	}
	var words []string
	for _, id := range slices.Sorted(maps.Keys(trusted)) {
		der, err := x509.MarshalPKIXPublicKey(trusted[id])
		if err != nil {
			return fmt.Errorf("verification key: %w", err)
		}
		words = append(words, base64.StdEncoding.EncodeToString(der))
	}
	return db.set(ctx, keySetting, strings.Join(words, " "))
}

func (db *DB) set(ctx context.Context, name, value string) error {
	return db.writing(ctx, func(t tx) error {
		return t.exec(`INSERT INTO schedule_settings (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	})
}

// name gives a database that has no id yet one that no other has.
func (t tx) name() error {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return t.exec("INSERT INTO schedule_settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", idSetting, hex.EncodeToString(id[:]))
}

const (
	phaseSetting = "gatekeeper_phase"
	keySetting   = "verification_key"
	idSetting    = "database_id"

	selectSettings = "SELECT name, value FROM schedule_settings"
)

func (t tx) settings() (Settings, error) {
	s := Settings{Phase: 2}
	err := t.each("settings", selectSettings, nil, func(scan func(...any) error) error {
		var name, value string
		err := scan(&name, &value)
		switch {
		case name == phaseSetting && value == "1":
			s.Phase = 1
		case name == keySetting:
			s.VerifyKey = value
		case name == idSetting:
			s.ID = value
		}
		return err
	})
	return s, err
}

// keys are those that count in a database: its own, less those that are not
// among the given; where it has none, the given. One that is given and is none
// of its own is an error.
func (s Settings) keys(given signatures.Keys) (signatures.Keys, error) {
	if s.VerifyKey == "" {
		return given, nil
	}
	var text []byte
	for word := range strings.FieldsSeq(s.VerifyKey) {
		der, err := base64.StdEncoding.DecodeString(word)
		if err != nil {
			return nil, fmt.Errorf("verification key of the database: %w", err)
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	own, err := signatures.ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("verification key of the database: %w", err)
	}
	for id := range given {
		if own[id] == nil {
			return nil, errors.New("verification_key is set in the database and cannot be another")
		}
	}
	if len(given) > 0 {
		return given, nil
	}
	return own, nil
}
