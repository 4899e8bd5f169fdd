package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/validators"
)

// Options are what the operator gives the gates and tools.
type Options struct {
	DSN        string           // the database where a call names none, see [Open]
	Policy     string           // the policy where a call names none, a profile's name or a policy as YAML
	SigningKey string           // signs certificates: a private key as PEM, or the name of its file; "": unsigned
	VerifyKey  string           // verifies them: a public key as PEM, or the name of its file; "": none is good
	Clock      func() time.Time // nil: time.Now
	Databases  *Databases       // nil: databases of its own, open until the process ends
}

// Databases are the databases that gates and tools have opened, each once. The
// zero value is empty and ready for use.
type Databases struct {
	mu     sync.Mutex
	open   map[string]*DB
	closed bool
}

// Close closes all of them; what still asks for one then gets an error.
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

// get opens a database, or gives the one that is open already.
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

// A desk is options with nothing left open.
type desk struct {
	Options
	policies func() (*Policy, error)
}

func (o Options) desk() *desk {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Databases == nil {
		o.Databases = &Databases{}
	}
	return &desk{o, sync.OnceValues(func() (*Policy, error) { return loadPolicy(o.Policy) })}
}

// policy is that of the call, else the operator's.
func (d *desk) policy(called *Policy) (*Policy, error) {
	if called != nil {
		return called, nil
	}
	return d.policies()
}

func (d *desk) database(dsn string) (*DB, error) {
	return d.Databases.get(cmp.Or(dsn, d.DSN))
}

// fixed lets an argument of a tool, which a model may have written, fill in
// what the operator left open, and change nothing that the operator set.
func fixed(name, operator, argument string) (string, error) {
	if operator != "" && argument != "" && argument != operator {
		return "", fmt.Errorf("%s is set by the operator and cannot be another", name)
	}
	return cmp.Or(operator, argument), nil
}

// unreadable is the verdict on a subject that is no schedule at all.
func (p *Policy) unreadable(err error) validators.Verdict {
	r := newReport(p)
	r.add(inputRule, finding{message: validators.OneLine(err.Error(), 300)})
	return r.verdict(Rejected, "", map[string]any{})
}
