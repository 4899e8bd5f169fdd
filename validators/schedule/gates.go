package schedule

import (
	"cmp"
	"context"
	"strings"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/faultoperators"
)

// commonParams are the parameters of all gates.
type commonParams struct {
	DB     string `json:"db,omitempty" jsonschema:"the database: a SQLite file, or a PostgreSQL DSN"`
	Policy string `json:"policy,omitempty" jsonschema:"v3 (default), v2, or a policy in YAML that extends one of them"`

	policy *gatePolicy
}

// Prepare implements [validators.Prepared].
func (w *commonParams) Prepare() (err error) {
	if w.Policy != "" {
		w.policy, err = loadPolicy(w.Policy)
	}
	return err
}

func (w commonParams) ownPolicy() *gatePolicy { return w.policy }

func (commonParams) scheduleOptional() bool { return false }

type preflightParams struct {
	commonParams
	Creator string `json:"creator_id,omitempty" jsonschema:"ID or page name of the creator. Default: the creator of the schedule"`
}

// scheduleOptional returns true: without a creator, the gate reports an unknown
// one.
func (preflightParams) scheduleOptional() bool { return true }

type qualityParams struct {
	commonParams
	SigningKey string `json:"signing_key,omitempty" jsonschema:"Ed25519 private key that signs the certificate: PEM, or a file name"`
	Limited    bool   `json:"caption_pool_limited,omitempty" jsonschema:"true: the pool of captions is limited, which relaxes the limits of freshness and performance"`
}

type certificateParams struct {
	commonParams
	VerifyKey string `json:"verification_key,omitempty" jsonschema:"Ed25519 public key that verifies the certificate: PEM, or a file name"`
	Phase     int    `json:"phase,omitempty" jsonschema:"1: findings are warnings; 2: a finding rejects. Default: the phase in the database"`
}

// Prepare implements [validators.Prepared].
func (c *certificateParams) Prepare() error {
	if err := checkPhase(c.Phase); err != nil {
		return err
	}
	return c.commonParams.Prepare()
}

// Validators returns the seven gates. Each reads a schedule as JSON, from the
// subject's output or its content. The details of a verdict are the specified
// object of the gate, with return_to, the phase to return to. An error of the
// database is an error of the gate, not a verdict.
func Validators(o Options) []validators.Validator {
	d := o.resolve()
	return []validators.Validator{
		gate(d, preflightGate, "Validates that a creator is ready for a schedule: active, vault, captions, persona, analytics", d.preflight, validators.Impure),
		gate(d, selectionGate, "Validates the captions of a schedule against the creator's vault and AVOID tier, and proves it", d.selection, validators.Impure, validators.WithFaults(faultoperators.Selection()...)),
		gate(d, qualityGate, "Validates a schedule by all hard and soft gates and its proof, and certifies it", d.quality, validators.Impure, validators.WithFaults(faultoperators.Quality()...)),
		gate(d, certificateGate, "Validates the certificate of a schedule as the gatekeeper does", d.certificate, validators.Impure, validators.WithFaults(faultoperators.Certificate()...)),
		gate(d, varietyGate, "Validates that a schedule has enough different send types and content types", d.variety, validators.WithFaults(faultoperators.Variety()...)),
		gate(d, criticGate, "Validates a critic's review of a schedule by its scores and concerns", d.critic, validators.Impure, validators.WithFaults(faultoperators.Critic()...)),
		gate(d, anomalyGate, "Validates a schedule against the creator's usual prices, volumes and times", d.anomaly, validators.Impure, validators.WithFaults(faultoperators.Anomaly()...)),
	}
}

// Operator returns the parameters of gates and tools that decide their results.
// Only an operator may set them: the author of a cascade, or the person who
// starts a server. A client that asks for a verdict, a signature or a save may
// not.
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

// gateInput is the input of one call of a gate: its policy, the subject, and
// the schedule in it. The last two are nil if the subject is unreadable and the
// parameters suffice.
type gateInput struct {
	policy        *gatePolicy
	subject, plan map[string]any
}

// gateParams are the parameters of a gate.
type gateParams interface {
	ownPolicy() *gatePolicy // nil: the operator's
	scheduleOptional() bool // the gate can decide without a schedule
}

// gate returns the gate with a name. It passes if its policy does not have it,
// and rejects unreadable subjects.
func gate[P gateParams](d *environment, name, description string, judge func(context.Context, P, gateInput) (validators.Verdict, error), options ...validators.Option) validators.Validator {
	return validators.New(name, description, func(ctx context.Context, p P, s validators.Subject) (validators.Verdict, error) {
		policy, err := d.policy(p.ownPolicy())
		if err != nil {
			return validators.Verdict{}, err
		}
		if !policy.hasGate(name) {
			return skipped(name), nil
		}
		subject, err := object(s)
		if err != nil && !p.scheduleOptional() {
			return policy.unreadable(err), nil
		}
		return judge(ctx, p, gateInput{policy, subject, unwrapSchedule(subject)})
	}, append(options, validators.Operator(Operator()...), validators.Opens(opens))...)
}

func (d *environment) preflight(ctx context.Context, p preflightParams, at gateInput) (validators.Verdict, error) {
	creator := p.Creator
	if creator == "" {
		creator, _ = at.plan["creator_id"].(string)
	}
	var found preflightData
	if storable(creator) && creator != "" {
		db, err := d.database(p.DB)
		if err != nil {
			return validators.Verdict{}, err
		}
		if found, err = db.preflightData(ctx, creator, at.policy); err != nil {
			return validators.Verdict{}, err
		}
	}
	return at.policy.preflight(creator, found), nil
}

func (d *environment) selection(ctx context.Context, p commonParams, at gateInput) (validators.Verdict, error) {
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	return at.policy.selection(ctx, db, at.plan, d.Clock())
}

func (d *environment) quality(ctx context.Context, p qualityParams, at gateInput) (_ validators.Verdict, err error) {
	how := qualityContext{now: d.Clock()}
	if how.sign, how.refused, err = d.signing(p.SigningKey, p.commonParams); err != nil {
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
	b, err := db.creatorRecord(ctx, plan, how.now, at.policy)
	if err != nil {
		return validators.Verdict{}, err
	}
	return r.quality(plan, b, how), nil
}

// signing returns the key for a gate's statement, or the reason why it is not
// signed. The operator's key signs only under the operator's policy and
// database. A caller with another policy must bring a key.
func (d *environment) signing(given string, w commonParams) (key *signatures.Key, refused string, err error) {
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

func (d *environment) certificate(ctx context.Context, p certificateParams, at gateInput) (validators.Verdict, error) {
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
	b, err := db.creatorRecord(ctx, plan, g.now, at.policy)
	if err != nil {
		return validators.Verdict{}, err
	}
	return g.verdict(r, plan, b), nil
}

func (d *environment) variety(_ context.Context, _ commonParams, at gateInput) (validators.Verdict, error) {
	r := newReport(at.policy)
	return r.variety(r.read(at.plan, needSendTypes)), nil
}

func (d *environment) anomaly(ctx context.Context, p commonParams, at gateInput) (validators.Verdict, error) {
	db, err := d.database(p.DB)
	if err != nil {
		return validators.Verdict{}, err
	}
	r := newReport(at.policy)
	plan := r.read(at.plan, needTimes)
	b, err := db.creatorRecord(ctx, plan, d.Clock(), at.policy)
	if err != nil {
		return validators.Verdict{}, err
	}
	return r.anomaly(plan, b), nil
}
