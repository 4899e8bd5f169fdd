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
	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators/request/inspectors"
)

// The states of a sign.
const (
	healthy  = "ok"
	absent   = "absent" // not set up, and not needed
	missing  = "missing"
	broken   = "broken" // set up, but it does not work
	outdated = "outdated"
)

// A sign is the result of one check.
type sign struct {
	Kind    string `json:"kind"` // version, store, model, provider, browser, telemetry, or a file's name
	Name    string `json:"name,omitempty"`
	State   string `json:"state"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // how to get it
}

// A diagnosis lists all checks. It is OK if nothing is missing or broken.
type diagnosis struct {
	OK     bool   `json:"ok"`
	Checks []sign `json:"checks"`
}

func (c *Command) doctor() *cobra.Command {
	var f storeFlags
	var chosen modelflag.Models
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
			d := diagnosis{Checks: []sign{{Kind: "version", State: healthy, Message: versionText()}, c.storeSign(f)}}
			d.Checks = append(d.Checks, c.providerSigns(cmd.Context())...)
			d.Checks = append(d.Checks, pricesSign(time.Now()), browserSign(), c.telemetrySign(cmd.Context()))
			d.Checks = append(d.Checks, c.hookSigns()...)
			for _, file := range args {
				signs, err := c.fileSigns(cmd.Context(), file, string(chosen))
				if err != nil {
					return err
				}
				d.Checks = append(d.Checks, signs...)
			}
			d.OK = !slices.ContainsFunc(d.Checks, func(s sign) bool { return s.State == missing || s.State == broken })
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
		for _, s := range d.Checks {
			fmt.Fprintf(c.Stdout, "%-8s %s\n", s.State, strings.TrimSpace(s.Kind+" "+s.Name)+": "+strings.Join(strings.Fields(s.Message), " "))
			if s.Fix != "" {
				fmt.Fprintf(c.Stdout, "%8s %s\n", "", s.Fix)
			}
		}
	}
	if !d.OK {
		return &exit{exitBroken, nil}
	}
	return nil
}

// storeSign checks the store. The first run creates a missing one.
func (c *Command) storeSign(f storeFlags) sign {
	s := sign{Kind: "store"}
	file, _, err := c.storeFile(f)
	s.Name = file
	if postgres.IsAddress(file) {
		s.Name = "PostgreSQL" // an address may hold a password
	}
	switch {
	case err != nil:
		s.State, s.Message, s.Fix = broken, err.Error(), "set HOME, or CAPSTAN_STORE to a file"
		return s
	case file == noStore:
		s.State, s.Message = absent, "off: runs are not stored and cannot be resumed (CAPSTAN_STORE=off)"
		return s
	}
	if !postgres.IsAddress(file) {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			s.State, s.Message = healthy, "the first run creates it"
			if err := canMake(file); err != nil {
				s.State, s.Message, s.Fix = broken, "it cannot be created: "+err.Error(), otherStore
			}
			return s
		}
		w, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			s.State, s.Message, s.Fix = broken, err.Error(), otherStore
			return s
		}
		w.Close()
	}
	j, err := c.open(file, f, true)
	switch {
	case errors.Is(err, journal.ErrEmpty):
		s.State, s.Message = healthy, "reachable; the first run creates its tables"
		return s
	case err != nil:
		s.State, s.Message, s.Fix = broken, err.Error(), otherStore
		return s
	}
	defer j.Close()
	s.State, s.Message = healthy, "readable"
	return s
}

const otherStore = "set CAPSTAN_STORE=FILE to use another store, or CAPSTAN_STORE=off for none"

// canMake returns an error if the file cannot be created in its nearest
// existing folder.
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
	s := sign{Kind: "prices", State: healthy}
	s.Message = fmt.Sprintf("public prices of %d models of %s, from %s", len(t.Models), t.Date.Format(time.DateOnly), t.Source)
	if now.Sub(t.Date) > pricesFor {
		s.State = outdated
		s.Message += fmt.Sprintf("; they are %d days old", int(now.Sub(t.Date).Hours()/24))
		s.Fix = "update Capstan, or write the prices of your models into the cascade: providers: {openai: {prices: {MODEL: {input: 1, output: 4}}}}"
	}
	return s
}

func browserSign() sign {
	s := sign{Kind: "browser", State: healthy}
	at, err := inspectors.FindBrowser("")
	if err != nil {
		s.State, s.Message = absent, err.Error()+"; only criteria that open a page need a browser"
		s.Fix = "apt-get install chromium, or brew install --cask chromium"
		return s
	}
	s.Message = at
	return s
}

func (c *Command) telemetrySign(ctx context.Context) sign {
	s := sign{Kind: "telemetry", State: absent, Message: "off: OTEL_EXPORTER_OTLP_ENDPOINT is not set"}
	t, err := telemetry.FromEnvironment(ctx, c.Getenv, telemetry.Options{Version: versionName()})
	switch {
	case err != nil:
		s.State, s.Message = broken, err.Error()
	case t != nil:
		s.State, s.Message = healthy, "runs are sent to OpenTelemetry"
		ctx, cancel := context.WithTimeout(ctx, maxLook)
		defer cancel()
		_ = t.Shutdown(ctx)
	}
	return s
}

// fileSigns checks the requirements of a cascade outside its files.
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
		s := sign{Kind: file, Name: a.Name, State: healthy, Message: "phase " + a.Phase.Name + " can use it"}
		if err := of.Ready(a.Name); err != nil {
			s.State, s.Message, s.Fix = missing, "phase "+a.Phase.Name+": "+err.Error(), modelsPage
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
			s := sign{Kind: file, Name: name, State: healthy, Message: "set, for " + n.What}
			if _, there := os.LookupEnv(name); !there {
				s.State, s.Message, s.Fix = missing, fmt.Sprintf("phase %s: %s needs it (%s)", n.Phase, n.What, n.Position), "export "+name+"=…"
			}
			signs = append(signs, s)
		}
	}
	signs = append(signs, databaseSigns(ctx, cascade)...)
	if len(signs) == 0 {
		signs = append(signs, sign{Kind: file, State: healthy, Message: "needs no model, environment variable, program or database"})
	}
	return signs, nil
}

// programSign looks for a program that a cascade starts.
func programSign(file string, n cascades.Need) sign {
	s := sign{Kind: file, Name: n.Program, State: healthy, Message: n.What + " can start it"}
	switch err := n.Lacks(); {
	case err != nil:
		s.State, s.Message = missing, fmt.Sprintf("phase %s: %s: %v (%s)", n.Phase, n.What, err, n.Position)
		s.Fix = "install it, or correct the path, which begins at the folder of the cascade"
	case n.Built:
		s.Message = n.What + " starts it; a phase before may build it"
	}
	return s
}

// databaseSigns checks that the databases of a cascade and of its nested
// cascades exist.
func databaseSigns(ctx context.Context, c *cascades.Cascade) (signs []sign) {
	for _, within := range c.Within() {
		for _, d := range within.Databases {
			s := sign{Kind: within.File, Name: d.Name, State: healthy, Message: "the database answers"}
			if err := query.Reach(ctx, d); err != nil {
				s.State, s.Message = broken, err.Error()
			}
			signs = append(signs, s)
		}
	}
	return signs
}
