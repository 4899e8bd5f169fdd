package runner

import (
	"encoding/json"
	"maps"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/schema"
)

// settingGates is where a run keeps what its gates were.
const settingGates = "gates"

// noteGates gives the settings of a run with the digests of its gates, where
// some are programs: those are files that may be others tomorrow.
func noteGates(c *cascades.Cascade, s Start) map[string]string {
	if !c.RunsPrograms() {
		return s.Settings
	}
	gates, err := c.Gates(cascades.Chosen(s.Model), ReadFile)
	if err != nil {
		return s.Settings // nothing can be proved of the run, which is nothing to end it for
	}
	digests := map[string]string{}
	for _, g := range gates {
		digests[g.At()] = g.Digest
	}
	text, err := json.Marshal(digests)
	if err != nil {
		return s.Settings
	}
	settings := map[string]string{}
	maps.Copy(settings, s.Settings)
	settings[settingGates] = string(text)
	return settings
}

// Gates are the gates of a run that was kept, each as it was when the run began.
// The digest of one is "" where nothing tells it.
func (s Start) Gates(c *cascades.Cascade) ([]cascades.Gate, error) {
	gates, err := c.Gates(cascades.Chosen(s.Model), nil)
	if err != nil || !c.RunsPrograms() {
		return gates, err
	}
	digests := map[string]string{}
	if noted := s.Settings[settingGates]; noted != "" {
		if err := schema.Unmarshal([]byte(noted), &digests); err != nil {
			return nil, err
		}
	}
	for i := range gates {
		gates[i].Digest = digests[gates[i].At()]
	}
	return gates, nil
}
