package schedule

import (
	"context"

	"github.com/seed61713e19/capstan/validators"
)

// where are the parameters that all gates have in common.
type where struct {
	DB     string `json:"db,omitempty" jsonschema:"the database: a SQLite file, or a PostgreSQL DSN"`
	Policy string `json:"policy,omitempty" jsonschema:"v3 (default), v2, or a policy in YAML that extends one of them"`

	policy *Policy
}

// Prepare implements [validators.Prepared].
func (w *where) Prepare() (err error) {
	if w.Policy != "" {
		w.policy, err = LoadPolicy(w.Policy)
	}
	return err
}

type preflightParams struct {
	where
	Creator string `json:"creator_id,omitempty" jsonschema:"the creator's id or page name; else the schedule says it"`
}

type qualityParams struct {
	where
	SigningKey string `json:"signing_key,omitempty" jsonschema:"signs the certificate: an Ed25519 private key as PEM, or the name of its file"`
	Limited    bool   `json:"caption_pool_limited,omitempty" jsonschema:"true: the pool of captions is limited, which relaxes freshness and performance"`
}

type certificateParams struct {
	where
	VerifyKey string `json:"verification_key,omitempty" jsonschema:"verifies the certificate: an Ed25519 public key as PEM, or the name of its file"`
	Phase     int    `json:"phase,omitempty" jsonschema:"1: findings are warnings, 2: any finding rejects; else what the database says"`
}

// Prepare implements [validators.Prepared].
func (c *certificateParams) Prepare() error {
	if err := checkPhase(c.Phase); err != nil {
		return err
	}
	return c.where.Prepare()
}

// Validators lists the seven gates. Each reads a schedule as JSON, from the
// subject's output or out of its content. Details of a verdict are the
// object that the gate is specified to give, with return_to, the phase to go
// back to. They wait for the database, and an error of it is their error.
func Validators(o Options) []validators.Validator {
	d := o.desk()
	return []validators.Validator{
		validators.New(preflightGate, "Validates that a creator has what a schedule needs: active, vault, captions, persona, analytics", d.preflight, validators.Impure),
		validators.New(selectionGate, "Validates the captions of a schedule against the creator's vault and AVOID tier, and proves it", d.selection, validators.Impure),
		validators.New(qualityGate, "Validates a schedule by all hard and soft gates and its proof, and certifies it", d.quality, validators.Impure),
		validators.New(certificateGate, "Validates the certificate of a schedule as the gatekeeper does", d.certificate, validators.Impure),
		validators.New(varietyGate, "Validates that a schedule has enough different send types and content types", d.variety),
		validators.New(criticGate, "Validates a critic's review of a schedule by its scores and concerns", d.critic),
		validators.New(anomalyGate, "Validates a schedule against the creator's usual prices, volumes and times", d.anomaly, validators.Impure),
	}
}

// A sitting is one use of a gate: its policy, and the schedule.
type sitting struct {
	policy *Policy
	plan   map[string]any
	ended  *validators.Verdict // it is over before it began
}

func (d *desk) sit(gate string, called *Policy, s validators.Subject) (sitting, error) {
	p, err := d.policy(called)
	if err != nil {
		return sitting{}, err
	}
	at := sitting{policy: p}
	if !p.judges(gate) {
		v := skipped(gate)
		at.ended = &v
		return at, nil
	}
	if at.plan, err = object(s); err != nil {
		v := p.unreadable(err)
		at.ended = &v
	}
	return at, nil
}

func (d *desk) preflight(ctx context.Context, p preflightParams, s validators.Subject) (validators.Verdict, error) {
	at, err := d.sit(preflightGate, p.policy, s)
	if err != nil || at.ended != nil && at.ended.Status == Skipped {
		return deref(at.ended), err
	}
	creator := p.Creator
	if creator == "" {
		creator, _ = at.plan["creator_id"].(string)
	}
	var found standing
	if storable(creator) && creator != "" {
		db, err := d.database(p.DB)
		if err != nil {
			return validators.Verdict{}, err
		}
		if found, err = db.standing(ctx, creator, at.policy); err != nil {
			return validators.Verdict{}, err
		}
	}
	return at.policy.preflight(clip(creator), found), nil
}

func deref(v *validators.Verdict) validators.Verdict {
	if v == nil {
		return validators.Verdict{}
	}
	return *v
}

func (d *desk) selection(ctx context.Context, p where, s validators.Subject) (validators.Verdict, error) {
	at, err := d.sit(selectionGate, p.policy, s)
	if err != nil || at.ended != nil {
		return deref(at.ended), err
	}
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	return at.policy.selection(ctx, db, at.plan, d.Clock())
}

// factsOf reads what there is on the creator that a schedule names.
func (d *desk) factsOf(ctx context.Context, dsn string, plan map[string]any) (facts, error) {
	db, err := d.database(dsn)
	if err != nil {
		return facts{}, err
	}
	creator, _ := plan["creator_id"].(string)
	if creator == "" || !storable(creator) {
		return facts{}, nil
	}
	return db.facts(ctx, creator)
}

func (d *desk) quality(ctx context.Context, p qualityParams, s validators.Subject) (validators.Verdict, error) {
	at, err := d.sit(qualityGate, p.policy, s)
	if err != nil || at.ended != nil {
		return deref(at.ended), err
	}
	key := p.SigningKey
	if key == "" {
		key = d.SigningKey
	}
	sign, err := newSigner(key)
	if err != nil {
		return validators.Verdict{}, err
	}
	f, err := d.factsOf(ctx, p.DB, at.plan)
	if err != nil {
		return validators.Verdict{}, err
	}
	return at.policy.quality(at.plan, f, qualityContext{sign, p.Limited, d.Clock()}), nil
}

func (d *desk) certificate(ctx context.Context, p certificateParams, s validators.Subject) (validators.Verdict, error) {
	at, err := d.sit(certificateGate, p.policy, s)
	if err != nil || at.ended != nil {
		return deref(at.ended), err
	}
	name := p.VerifyKey
	if name == "" {
		name = d.VerifyKey
	}
	key, err := verifyKey(name)
	if err != nil {
		return validators.Verdict{}, err
	}
	f, err := d.factsOf(ctx, p.DB, at.plan)
	if err != nil {
		return validators.Verdict{}, err
	}
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	own, err := db.Settings(ctx)
	if err != nil {
		return validators.Verdict{}, err
	}
	if key, err = own.key(key); err != nil {
		return validators.Verdict{}, err
	}
	if p.Phase == 0 {
		p.Phase = own.Phase
	}
	return gatekeeper{at.policy, key, p.Phase, d.Clock()}.verdict(at.plan, f), nil
}

func (d *desk) variety(_ context.Context, p where, s validators.Subject) (validators.Verdict, error) {
	at, err := d.sit(varietyGate, p.policy, s)
	if err != nil || at.ended != nil {
		return deref(at.ended), err
	}
	return at.policy.variety(at.plan), nil
}

func (d *desk) anomaly(ctx context.Context, p where, s validators.Subject) (validators.Verdict, error) {
	at, err := d.sit(anomalyGate, p.policy, s)
	if err != nil || at.ended != nil {
		return deref(at.ended), err
	}
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	now := d.Clock()
	r := newReport(at.policy)
	plan := r.read(at.plan, needTimes)
	var b background
	if plan.creator != "" {
		if b, err = db.background(ctx, plan.creator, plan.week, now, at.policy); err != nil {
			return validators.Verdict{}, err
		}
	}
	return at.policy.anomaly(r, plan, b), nil
}
