package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators/request/inspectors"
)

// The states of what capstan doctor looks at.
const (
	healthy = "ok"
	absent  = "absent" // not there, and nothing that was asked about needs it
	lacking = "lacking"
	broken  = "broken" // there, and it does not work
	old     = "old"    // works, and may be wrong by now
)

// A sign is what one look has found, in the words that JSON has too.
type sign struct {
	What  string `json:"what"` // version, store, model, provider, browser, telemetry, or a file's name
	Name  string `json:"name,omitempty"`
	State string `json:"state"`
	Says  string `json:"says"`
	Mend  string `json:"mend,omitempty"` // what gets it
}

// A diagnosis is all that was found; it is well where nothing lacks or is broken.
type diagnosis struct {
	Well  bool   `json:"well"`
	Signs []sign `json:"signs"`
}

func (c *Command) doctor() *cobra.Command {
	var f storeFlags
	var chosen given.Models
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [FILE]...",
		Short: "Check this machine and report what runs need",
		Long: `Check the store, the keys and endpoints of model providers, the browser and telemetry.
For each FILE, check its models, environment variables, programs and databases. The
command requests the list of models from each endpoint, and calls no model.`,
		Annotations: exitStatus("0 everything needed works, 2 a file with a mistake, 3 something is missing or broken"),
		Example: `  capstan doctor
  capstan doctor post.yaml --model ollama:llama3
  capstan doctor --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d := diagnosis{Signs: []sign{{What: "version", State: healthy, Says: versionText()}, c.storeSign(f)}}
			d.Signs = append(d.Signs, c.providerSigns(cmd.Context())...)
			d.Signs = append(d.Signs, pricesSign(time.Now()), browserSign(), c.telemetrySign(cmd.Context()))
			d.Signs = append(d.Signs, c.hookSigns()...)
			for _, file := range args {
				signs, err := c.fileSigns(cmd.Context(), file, string(chosen))
				if err != nil {
					return err
				}
				d.Signs = append(d.Signs, signs...)
			}
			d.Well = !slices.ContainsFunc(d.Signs, func(s sign) bool { return s.State == lacking || s.State == broken })
			return c.tellDiagnosis(d, asJSON)
		},
	}
	f.add(cmd)
	cmd.Flags().Var(&chosen, "model", flagTexts["model"])
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

func (c *Command) tellDiagnosis(d diagnosis, asJSON bool) error {
	if asJSON {
		if err := printJSON(c.Stdout, d); err != nil {
			return err
		}
	} else {
		for _, s := range d.Signs {
			fmt.Fprintf(c.Stdout, "%-8s %s\n", shownState(s.State), strings.TrimSpace(s.What+" "+s.Name)+": "+strings.Join(strings.Fields(s.Says), " "))
			if s.Mend != "" {
				fmt.Fprintf(c.Stdout, "%8s %s\n", "", s.Mend)
			}
		}
	}
	if !d.Well {
		return &exit{exitBroken, nil}
	}
	return nil
}

// shownState is a state as people read it.
func shownState(state string) string {
	if state == lacking {
		return "missing"
	}
	return state
}

// storeSign looks at the store, which is made by the first run where it is not
// there.
func (c *Command) storeSign(f storeFlags) sign {
	s := sign{What: "store"}
	file, _, err := c.storeFile(f)
	s.Name = file
	if journal.IsAddress(file) {
		s.Name = "PostgreSQL" // an address may hold a password
	}
	switch {
	case err != nil:
		s.State, s.Says, s.Mend = broken, err.Error(), "set HOME, or CAPSTAN_STORE to a file"
		return s
	case file == noStore:
		s.State, s.Says = absent, "off: runs are not stored and cannot be resumed (CAPSTAN_STORE=off)"
		return s
	}
	if !journal.IsAddress(file) {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			s.State, s.Says = healthy, "the first run creates it"
			if err := canMake(file); err != nil {
				s.State, s.Says, s.Mend = broken, "it cannot be created: "+err.Error(), otherStore
			}
			return s
		}
		w, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			s.State, s.Says, s.Mend = broken, err.Error(), otherStore
			return s
		}
		w.Close()
	}
	j, err := c.open(file, f, true)
	switch {
	case errors.Is(err, journal.ErrEmpty):
		s.State, s.Says = healthy, "reachable; the first run creates its tables"
		return s
	case err != nil:
		s.State, s.Says, s.Mend = broken, err.Error(), otherStore
		return s
	}
	defer j.Close()
	s.State, s.Says = healthy, "readable"
	return s
}

const otherStore = "set CAPSTAN_STORE=FILE to use another store, or CAPSTAN_STORE=off for none"

// canMake tells why a file could not be made, in the first folder on its way
// that is there.
func canMake(file string) error {
	dir := filepath.Dir(file)
	for {
		_, err := os.Stat(dir)
		if err == nil || dir == filepath.Dir(dir) || !errors.Is(err, os.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	try, err := os.CreateTemp(dir, ".capstan-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(try.Close(), os.Remove(try.Name()))
}

// pricesFor is how long public prices count as current.
const pricesFor = 180 * 24 * time.Hour

// pricesSign reports the source and the age of the public prices.
func pricesSign(now time.Time) sign {
	t := model.PublicPrices()
	s := sign{What: "prices", State: healthy}
	s.Says = fmt.Sprintf("public prices of %d models of %s, from %s", len(t.Models), t.Date.Format(time.DateOnly), t.Source)
	if now.Sub(t.Date) > pricesFor {
		s.State = old
		s.Says += fmt.Sprintf("; they are %d days old", int(now.Sub(t.Date).Hours()/24))
		s.Mend = "update Capstan, or write the prices of your models into the cascade: providers: {openai: {prices: {MODEL: {input: 1, output: 4}}}}"
	}
	return s
}

func browserSign() sign {
	s := sign{What: "browser", State: healthy}
	at, err := inspectors.FindBrowser("")
	if err != nil {
		s.State, s.Says = absent, err.Error()+"; only criteria that open a page need a browser"
		s.Mend = "apt-get install chromium, or brew install --cask chromium"
		return s
	}
	s.Says = at
	return s
}

func (c *Command) telemetrySign(ctx context.Context) sign {
	s := sign{What: "telemetry", State: absent, Says: "off: OTEL_EXPORTER_OTLP_ENDPOINT is not set"}
	t, err := telemetry.FromEnvironment(ctx, c.Getenv, telemetry.Options{Version: versionName()})
	switch {
	case err != nil:
		s.State, s.Says = broken, err.Error()
	case t != nil:
		s.State, s.Says = healthy, "runs are sent to OpenTelemetry"
		ctx, cancel := context.WithTimeout(ctx, maxLook)
		defer cancel()
		_ = t.Shutdown(ctx)
	}
	return s
}

// fileSigns tells what a cascade needs that its files do not hold.
func (c *Command) fileSigns(ctx context.Context, file, chosen string) ([]sign, error) {
	cascade, err := c.load(file)
	if err != nil {
		return nil, err
	}
	m := newModels(c.Getenv, false, nil, c.names.root)
	of := m.Of(cascade.EveryProvider())
	var signs []sign
	told := map[string]bool{}
	asked := c.askedOnce(ctx)
	for _, a := range cascade.Asking(cascades.Chosen(m.chosen(chosen, file))) {
		if told[a.Name] {
			continue
		}
		told[a.Name] = true
		s := sign{What: file, Name: a.Name, State: healthy, Says: "phase " + a.Phase.Name + " can use it"}
		if err := of.Ready(a.Name); err != nil {
			s.State, s.Says, s.Mend = lacking, "phase "+a.Phase.Name+": "+err.Error(), modelsPage
		} else if p, ok := of.Provider(a.Name); ok {
			s.reaches(a.Phase.Name, asked(p))
		}
		signs = append(signs, s)
	}
	for _, n := range cascade.Needs() {
		if n.Program != "" {
			signs = append(signs, programSign(file, n))
		}
		for _, name := range n.Variables {
			s := sign{What: file, Name: name, State: healthy, Says: "set, for " + n.What}
			if _, there := os.LookupEnv(name); !there {
				s.State, s.Says, s.Mend = lacking, fmt.Sprintf("phase %s: %s needs it (%s)", n.Phase, n.What, n.Position), "export "+name+"=…"
			}
			signs = append(signs, s)
		}
	}
	signs = append(signs, databaseSigns(ctx, cascade)...)
	if len(signs) == 0 {
		signs = append(signs, sign{What: file, State: healthy, Says: "needs no model, environment variable, program or database"})
	}
	return signs, nil
}

// programSign looks for a program that a cascade starts.
func programSign(file string, n cascades.Need) sign {
	s := sign{What: file, Name: n.Program, State: healthy, Says: n.What + " can start it"}
	switch err := n.Lacks(); {
	case err != nil:
		s.State, s.Says = lacking, fmt.Sprintf("phase %s: %s: %v (%s)", n.Phase, n.What, err, n.Position)
		s.Mend = "install it, or correct the path, which begins at the folder of the cascade"
	case n.Built:
		s.Says = n.What + " starts it; a phase before may build it"
	}
	return s
}

// databaseSigns asks each database of a cascade, and of those within it, whether it
// is there.
func databaseSigns(ctx context.Context, c *cascades.Cascade) (signs []sign) {
	for _, within := range c.Within() {
		for _, d := range within.Databases {
			s := sign{What: within.File, Name: d.Name, State: healthy, Says: "the database answers"}
			if err := query.Reach(ctx, d); err != nil {
				s.State, s.Says = broken, err.Error()
			}
			signs = append(signs, s)
		}
	}
	return signs
}
