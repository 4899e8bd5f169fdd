package schedule

import (
	"cmp"
	"context"
	"strings"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/spoilings"
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
		w.policy, err = loadPolicy(w.Policy)
	}
	return err
}

func (w where) called() *Policy { return w.policy }

func (where) enough() bool { return false }

type preflightParams struct {
	where
	Creator string `json:"creator_id,omitempty" jsonschema:"the creator's id or page name; else the schedule says it"`
}

// enough is true: a creator that nobody named is one that nobody knows.
func (preflightParams) enough() bool { return true }

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
		gate(d, preflightGate, "Validates that a creator has what a schedule needs: active, vault, captions, persona, analytics", d.preflight, validators.Impure),
		gate(d, selectionGate, "Validates the captions of a schedule against the creator's vault and AVOID tier, and proves it", d.selection, validators.Impure, validators.Publishing(spoilings.Selection()...)),
		gate(d, qualityGate, "Validates a schedule by all hard and soft gates and its proof, and certifies it", d.quality, validators.Impure, validators.Publishing(spoilings.Quality()...)),
		gate(d, certificateGate, "Validates the certificate of a schedule as the gatekeeper does", d.certificate, validators.Impure, validators.Publishing(spoilings.Certificate()...)),
		gate(d, varietyGate, "Validates that a schedule has enough different send types and content types", d.variety, validators.Publishing(spoilings.Variety()...)),
		gate(d, criticGate, "Validates a critic's review of a schedule by its scores and concerns", d.critic, validators.Impure, validators.Publishing(spoilings.Critic()...)),
		gate(d, anomalyGate, "Validates a schedule against the creator's usual prices, volumes and times", d.anomaly, validators.Impure, validators.Publishing(spoilings.Anomaly()...)),
	}
}

// Operator names the parameters of gates and tools by which they decide. They
// are the operator's: the author of a cascade gives them, or who starts a
// server, and never one who only asks for a verdict, a signature or a save.
func Operator() []string {
	return []string{"db", "policy", "signing_key", "verification_key", "phase", "caption_pool_limited"}
}

// opens returns the files of the database and the keys.
func opens(with map[string]any) []string {
	var names []string
	if dsn, _ := with["db"].(string); dsn != "" && !isPostgres(dsn) {
		names = append(names, sqliteFile(dsn))
	}
	for _, name := range []string{"signing_key", "verification_key"} {
		if key, _ := with[name].(string); key != "" && !isPEM(key) {
			names = append(names, strings.TrimSpace(key))
		}
	}
	return names
}

// A sitting is one use of a gate: its policy, what the subject says, and the
// schedule in that, both nil where the subject is none and the parameters say enough.
type sitting struct {
	policy     *Policy
	said, plan map[string]any
}

// A calling is the parameters of a gate.
type calling interface {
	called() *Policy // nil: the operator's
	enough() bool    // the gate can judge without a schedule
}

// gate is a gate of that name, which judges what its policy has it judge and what
// it can read.
func gate[P calling](d *desk, name, description string, judge func(context.Context, P, sitting) (validators.Verdict, error), options ...validators.Option) validators.Validator {
	return validators.New(name, description, func(ctx context.Context, p P, s validators.Subject) (validators.Verdict, error) {
		policy, err := d.policy(p.called())
		if err != nil {
			return validators.Verdict{}, err
		}
		if !policy.judges(name) {
			return skipped(name), nil
		}
		said, err := object(s)
		if err != nil && !p.enough() {
			return policy.unreadable(err), nil
		}
		return judge(ctx, p, sitting{policy, said, opened(said)})
	}, append(options, validators.Operator(Operator()...), validators.Opens(opens))...)
}

func (d *desk) preflight(ctx context.Context, p preflightParams, at sitting) (validators.Verdict, error) {
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
	return at.policy.preflight(creator, found), nil
}

func (d *desk) selection(ctx context.Context, p where, at sitting) (validators.Verdict, error) {
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	return at.policy.selection(ctx, db, at.plan, d.Clock())
}

func (d *desk) quality(ctx context.Context, p qualityParams, at sitting) (_ validators.Verdict, err error) {
	how := qualityContext{now: d.Clock()}
	if how.sign, how.refused, err = d.signing(p.SigningKey, p.where); err != nil {
		return validators.Verdict{}, err
	}
	if how.sign != nil {
		how.trusted = how.sign.Public()
	}
	if how.refused != "" {
		how.sign = nil
	}
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	r := newReport(at.policy)
	plan := r.read(at.plan, needSendTypes|needTimes)
	plan.limited = plan.limited || p.Limited
	b, err := db.background(ctx, plan, how.now, at.policy)
	if err != nil {
		return validators.Verdict{}, err
	}
	return r.quality(plan, b, how), nil
}

// signing gives the key that a gate's statement is signed with, or why it is
// not signed: a key that the options hold signs by their policy and no other.
// Who brings a policy of their own brings a key of their own.
func (d *desk) signing(given string, w where) (key *signatures.Key, refused string, err error) {
	if key, err = newSigner(cmp.Or(given, d.SigningKey)); err != nil || key == nil || given != "" {
		return key, "", err
	}
	own, err := d.policies()
	switch {
	case err != nil:
		return nil, "", err
	case w.policy != nil && w.policy.digest != own.digest:
		refused = "the policy is not that of the key's owner"
	case w.DB != "" && d.DSN != "" && w.DB != d.DSN:
		refused = "the database is not that of the key's owner"
	}
	return key, refused, nil
}

func (d *desk) certificate(ctx context.Context, p certificateParams, at sitting) (validators.Verdict, error) {
	given, err := trustedKeys(cmp.Or(p.VerifyKey, d.VerifyKey))
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
	g := gatekeeper{policy: at.policy, phase: cmp.Or(p.Phase, own.Phase), now: d.Clock()}
	if g.keys, err = own.keys(given); err != nil {
		return validators.Verdict{}, err
	}
	r := g.report()
	plan := r.read(at.plan, 0)
	b, err := db.background(ctx, plan, g.now, at.policy)
	if err != nil {
		return validators.Verdict{}, err
	}
	return g.verdict(r, plan, b), nil
}

func (d *desk) variety(_ context.Context, _ where, at sitting) (validators.Verdict, error) {
	r := newReport(at.policy)
	return r.variety(r.read(at.plan, needSendTypes)), nil
}

func (d *desk) anomaly(ctx context.Context, p where, at sitting) (validators.Verdict, error) {
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	r := newReport(at.policy)
	plan := r.read(at.plan, needTimes)
	b, err := db.background(ctx, plan, d.Clock(), at.policy)
	if err != nil {
		return validators.Verdict{}, err
	}
	return r.anomaly(plan, b), nil
}
