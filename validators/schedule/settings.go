package schedule

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
)

// Settings are what the operator has set in a database for its gatekeeper.
type Settings struct {
	Phase     int    `json:"gatekeeper_phase"` // 1 saves with warnings what has no good certificate, 2 refuses it
	VerifyKey string `json:"verification_key"` // a public key as PEM without its frame; "": each call has to give one
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

// SetVerifyKey sets the key that verifies certificates in this database: a
// public key as PEM, or the name of its file. From then on no option, parameter
// or argument can bring another.
func (db *DB) SetVerifyKey(ctx context.Context, key string) error {
	public, err := verifyKey(key)
	if err != nil {
		return err
	}
	if public == nil {
		return errors.New("verification key: there is none")
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return fmt.Errorf("verification key: %w", err)
	}
	return db.set(ctx, keySetting, base64.StdEncoding.EncodeToString(der))
}

func (db *DB) set(ctx context.Context, name, value string) error {
	return db.writing(ctx, func(t tx) error {
		return t.exec(`INSERT INTO schedule_settings (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	})
}

const (
	phaseSetting = "gatekeeper_phase"
	keySetting   = "verification_key"

	selectSettings = "SELECT name, value FROM schedule_settings"
)

func (t tx) settings() (Settings, error) {
	s := Settings{Phase: 2}
	err := t.each(selectSettings, nil, func(scan func(...any) error) error {
		var name, value string
		err := scan(&name, &value)
		switch {
		case name == phaseSetting && value == "1":
			s.Phase = 1
		case name == keySetting:
			s.VerifyKey = value
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	return s, nil
}

// key is the one that counts in a database: its own, else the one that was
// given, nil for none. Another than its own is an error.
func (s Settings) key(given ed25519.PublicKey) (ed25519.PublicKey, error) {
	if s.VerifyKey == "" {
		return given, nil
	}
	der, err := base64.StdEncoding.DecodeString(s.VerifyKey)
	if err != nil {
		return nil, fmt.Errorf("verification key of the database: %w", err)
	}
	own, err := verifyKey(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	if err != nil {
		return nil, fmt.Errorf("verification key of the database: %w", err)
	}
	if given != nil && !own.Equal(given) {
		return nil, errors.New("verification_key is set in the database and cannot be another")
	}
	return own, nil
}
