package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

// Options are the operator's settings for the gates and tools.
type Options struct {
	DSN        string           // default database, see [Open]
	Policy     string           // default policy: the name of a profile, or a policy in YAML
	SigningKey string           // private key that signs certificates, as PEM or the name of its file; default: unsigned
	VerifyKey  string           // public key that verifies certificates, as PEM or the name of its file; default: none is valid
	Clock      func() time.Time // default: time.Now
	Databases  *Databases       // default: own databases, open until the process ends
}

// Databases are the databases that gates and tools have opened, each once. The
// zero value is empty and ready for use.
type Databases struct {
	mu     sync.Mutex
	open   map[string]*DB
	closed bool
}

// Close closes all databases. Later uses return an error.
func (d *Databases) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var errs []error
	for _, db := range d.open {
		errs = append(errs, db.Close())
	}
	d.open = nil
	return errors.Join(errs...)
}

// get returns an open database, opening it if necessary.
func (d *Databases) get(dsn string) (*DB, error) {
	if dsn == "" {
		return nil, errors.New(`no database: the operator gives the parameter "db", a SQLite file or a PostgreSQL DSN`)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("schedule databases are closed")
	}
	if db, ok := d.open[dsn]; ok {
		return db, nil
	}
	db, err := Open(dsn)
	if err != nil {
		return nil, err
	}
	if d.open == nil {
		d.open = map[string]*DB{}
	}
	d.open[dsn] = db
	return db, nil
}

// environment is Options with all defaults filled in.
type environment struct {
	Options
	policies func() (*gatePolicy, error)
}

func (o Options) resolve() *environment {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Databases == nil {
		o.Databases = &Databases{}
	}
	return &environment{o, sync.OnceValues(func() (*gatePolicy, error) { return loadPolicy(o.Policy) })}
}

// policy returns the policy of the call, or else the operator's.
func (d *environment) policy(called *gatePolicy) (*gatePolicy, error) {
	if called != nil {
		return called, nil
	}
	return d.policies()
}

func (d *environment) database(dsn string) (*DB, error) {
	return d.Databases.get(cmp.Or(dsn, d.DSN))
}

// operatorOr returns the operator's value, or else the argument of a tool,
// which a model may have written. A different argument is an error.
func operatorOr(name, operator, argument string) (string, error) {
	if operator != "" && argument != "" && argument != operator {
		return "", fmt.Errorf("%s is set by the operator: leave it out, or give the same value", name)
	}
	return cmp.Or(operator, argument), nil
}

// unreadable returns the verdict on a subject that is not a schedule.
func (p *gatePolicy) unreadable(err error) validators.Verdict {
	r := newReport(p)
	r.add(inputRule, finding{message: reports.Fit(err.Error(), 300)})
	return r.verdict(statusRejected, "", map[string]any{})
}
