package runner

import (
	"encoding/json"
	"maps"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
)

// settingGates is the setting of a run that stores the digests of its gates.
const settingGates = "gates"

// noteGates returns the settings of a run with the digests of its gates.
func noteGates(gates []cascades.Gate, settings map[string]string) map[string]string {
	digests := map[string]string{}
	for _, g := range gates {
		digests[g.At()] = g.Digest
	}
	text, _ := json.Marshal(digests) // cannot fail: strings only
	noted := map[string]string{}
	maps.Copy(noted, settings)
	noted[settingGates] = string(text)
	return noted
}

// WithGates calls f with the run's gates before the run spends anything. The
// digests are those of the pinned files.
func WithGates(f func([]cascades.Gate)) RunOption { return startOption(func(s *Start) { s.gates = f }) }

// Gates returns the gates of a stored run at its start. An unknown digest is
// "".
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
