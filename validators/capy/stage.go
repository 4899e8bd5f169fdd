package capy

import (
	"slices"
	"strings"
)

// StageOf finds the stage that a file's name says: BASE_T1.pass.md,
// DAVE_SCEN_T1_20251220.md, 02-base-refine.md, DAVE_A10_SCENARIO.json. Letter
// case and the separators do not matter. A stage's own name counts before its
// module and turn apart, these before an artifact that is a file of its own; a
// module or a turn that the name leaves out may be the directory's.
func StageOf(filename string) (string, bool) {
	parts := strings.FieldsFunc(filename, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) == 0 {
		return "", false
	}
	name := nameWords(parts[len(parts)-1])
	folder := []string{}
	if len(parts) > 1 {
		folder = nameWords(parts[len(parts)-2])
	}
	if s := wholeName(name); s != "" {
		return s, true
	}
	module, turn := moduleIn(name), turnIn(name)
	if s := stageName(module, turn); s != "" {
		return s, true
	}
	if s := artifactStage(parts[len(parts)-1], module); s != "" {
		return s, true
	}
	for _, pair := range [][2]string{{module, turnIn(folder)}, {moduleIn(folder), turn}} {
		if pair[0] != "" && pair[1] != "" {
			if s := stageName(pair[0], pair[1]); s != "" {
				return s, true
			}
		}
	}
	return "", false
}

// nameWords are the letters and digits of a name, in capitals, apart.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}

// wholeName finds a stage by its whole name: of several the longest, and of these
// the first.
func wholeName(words []string) string {
	name := "_" + strings.Join(words, "_") + "_"
	best, at := "", -1
	for _, s := range stageNames() {
		i := strings.Index(name, "_"+s+"_")
		if i >= 0 && (len(s) > len(best) || len(s) == len(best) && i < at) {
			best, at = s, i
		}
	}
	has := func(alias string) bool { return strings.Contains(name, "_"+alias+"_") }
	switch {
	case best != "":
	case has("RQGEN") || has("RQ_GENERATION"):
		return "RQ_GEN"
	case has("SILICON_COUNCIL") || has("AUDIT_REPORT"):
		return "SC"
	}
	return best
}

// modules are how runs call the pipeline's modules.
var modules = map[string]string{
	"BASE": "BASE", "ENRICH": "ENRICH", "ENRICHMENT": "ENRICH", "ENR": "ENRICH",
	"SCENARIO": "SCENARIO", "SCENARIOS": "SCENARIO", "SCEN": "SCENARIO", "SCN": "SCENARIO",
	"INT": "INT", "INTEGRATION": "INT", "INTEG": "INT", "IRR": "IRR",
}

// turns are how runs call a module's turns.
var turns = map[string]string{
	"T1": "T1", "TURN1": "T1", "T2": "T2", "TURN2": "T2", "T3": "T3", "TURN3": "T3", "REFINE": "REFINE", "REFINED": "REFINE",
}

func moduleIn(words []string) string {
	for _, w := range words {
		if m := modules[w]; m != "" {
			return m
		}
	}
	return ""
}

func turnIn(words []string) string {
	for i, w := range words {
		if t := turns[w]; t != "" {
			return t
		}
		if w == "TURN" && i+1 < len(words) {
			return turns["T"+words[i+1]]
		}
	}
	return ""
}

// stageName is the stage of a module's turn, or "".
func stageName(module, turn string) string {
	if turn == "REFINE" && module == "" {
		module = "BASE"
	}
	if s := module + "_" + turn; slices.Contains(stageNames(), s) {
		return s
	}
	return ""
}

// artifactStages are the stages whose output an artifact is.
var artifactStages = map[string]string{
	"A.7": "BASE_T2", "A.8": "RQ_GEN", "A.9": "ENRICH_T1", "A.10": "SCENARIO_T2",
	"A.11": "SC", "A.12": "INT_T2", "A.13": "IRR_T1", "A.14": "IRR_T2",
}

func artifactStage(name, module string) string {
	p, err := loadPolicy("")
	if err != nil {
		return ""
	}
	for _, artifact := range sortedKeys(p.Artifacts) {
		if a := p.Artifacts[artifact]; artifactStages[artifact] != "" && a.file.MatchString(name) {
			if artifact == "A.7" && module == "ENRICH" {
				return "ENRICH_T2"
			}
			return artifactStages[artifact]
		}
	}
	return ""
}
