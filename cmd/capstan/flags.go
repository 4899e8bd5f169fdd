package main

import "github.com/seed61713e19/capstan/internal/inputs"

// flagTexts contains the text of each flag that more than one command has. A flag has
// one meaning, so that its text and its type are the same everywhere.
var flagTexts = map[string]string{
	"allow-exec":   "permission for models and requests to run commands",
	"allow-host":   "host that tools and requests may reach: name, name:port or *.name; may be repeated",
	"as":           "name of the person (default your user name)",
	"each":         "dataset whose rows are the inputs of runs: JSON Lines, or CSV if the name ends in .csv",
	"evidence":     "folder for screenshots (default a temporary folder)",
	"env":          "variable of the hook: NAME or NAME=VALUE; may be repeated",
	"gate":         "name of the gate",
	"input":        inputs.InputText,
	"input-file":   "JSON file with inputs, or - for standard input",
	"json":         "JSON output",
	"judges":       "calls to judges, which use a model",
	"labels":       "folder of labels (default labels next to FILE)",
	"limit":        "maximum number of entries; 0 means no limit",
	"model":        "model NAME, scripted:FILE or replay:RUN; OLD=NEW replaces a model (default CAPSTAN_MODEL)",
	"out":          "output file",
	"parallel":     "maximum number of concurrent runs",
	"phase":        "name of the phase",
	"project":      "the settings of a project; --project=DIR names another folder than the working directory",
	"pub":          "file of public keys",
	"root":         "folder that tools, cascades and requests must not leave",
	"run-id":       "name of the new run",
	"run-programs": "execution of validators that are programs or servers",
	"runs":         "names of runs, separated by commas (default all runs of the cascade)",
	"settings":     "settings of the agent, whose hooks must not change",
	"store":        "file or PostgreSQL URL of the stored runs, or off (default CAPSTAN_STORE or your state folder)",
	"strict":       "warnings as errors",
	"tests":        "folder of the recorded tests",
	"with":         "parameter: name=text, name:=JSON or name=@file; may be repeated",
}
