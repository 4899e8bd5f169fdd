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

	"github.com/seed61713e19/capstan/internal/signatures"
)

// Settings are the operator's settings in a database for its gatekeeper.
type Settings struct {
	Phase     int    `json:"gatekeeper_phase"` // 1 saves with warnings without a valid certificate, 2 rejects
	VerifyKey string `json:"verification_key"` // public keys as PEM without its frame, separated by blanks; empty: each call must pass one
	ID        string `json:"database_id"`      // identifies the database in certificates; a copy has the same
}

// Settings returns the settings of the database. The default phase is 2.
func (db *DB) Settings(ctx context.Context) (s Settings, err error) {
	err = db.reading(ctx, func(t tx) error {
		s, err = t.settings()
		return err
	})
	return s, err
}

// SetPhase sets the gatekeeper's phase. Phase 1 saves with warnings without a
// valid certificate, and phase 2 rejects.
func (db *DB) SetPhase(ctx context.Context, phase int) error {
	if phase != 1 && phase != 2 {
		return fmt.Errorf("gatekeeper phase must be 1 or 2, not %d", phase)
	}
	return db.set(ctx, phaseSetting, strconv.Itoa(phase))
}

// SetVerifyKey sets the keys that verify certificates in this database: public
// keys as PEM, or the name of their file. From then on, options, parameters and
// arguments cannot replace them.
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

// ensureID sets a random id if the database has none.
func (t tx) ensureID() error {
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

// keys returns the effective keys: those of the database, restricted to the
// trusted ones if there are any. Without keys in the database they are the
// trusted ones. A trusted key that the database does not have is an error.
func (s Settings) keys(trusted signatures.Keys) (signatures.Keys, error) {
	if s.VerifyKey == "" {
		return trusted, nil
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
	for id := range trusted {
		if own[id] == nil {
			return nil, errors.New("verification_key is set in the database: leave it out, or give the same key")
		}
	}
	if len(trusted) > 0 {
		return trusted, nil
	}
	return own, nil
}
