package runner

import (
	"encoding/json"
	"maps"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/schema"
)

// settingGates is where a run keeps what its gates were.
const settingGates = "gates"

// noteGates returns the settings of a run with the digests of its gates.
func noteGates(gates []cascades.Gate, settings map[string]string) map[string]string {
	digests := map[string]string{}
	for _, g := range gates {
		digests[g.At()] = g.Digest
	}
	text, _ := json.Marshal(digests) // of texts alone
	noted := map[string]string{}
	maps.Copy(noted, settings)
	noted[settingGates] = string(text)
	return noted
}

// WithGates calls f with the gates of the run before anything is spent. Their digests
// are those of the files that the run has pinned.
func WithGates(f func([]cascades.Gate)) RunOption { return startOption(func(s *Start) { s.gates = f }) }

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
