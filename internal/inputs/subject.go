package inputs

import "fmt"

// InputText is the help text of the flag --input.
const InputText = "input: name=text, name:=JSON or name=@file; may be repeated"

// SubjectFlags are the flags for the values that a validator reads besides the text.
type SubjectFlags struct{ Input, Outputs, State []string }

// Each calls add with the list, the name and the text of each flag. A flag may be repeated,
// and adds to its list.
func (f *SubjectFlags) Each(add func(list *[]string, name, text string)) {
	add(&f.Input, "input", InputText)
	add(&f.Outputs, "output", "output of an earlier phase: phase=text, phase:=JSON or phase=@file; may be repeated")
	add(&f.State, "state", "value of the state: name=text, name:=JSON or name=@file; may be repeated")
}

// Read returns the values of the flags.
func (f *SubjectFlags) Read(files Files) (input, outputs, state map[string]any, err error) {
	values := map[string]map[string]any{}
	f.Each(func(list *[]string, name, _ string) {
		if err == nil {
			if values[name], err = files.Assignments(*list); err != nil {
				err = fmt.Errorf("--%s %w", name, err)
			}
		}
	})
	return values["input"], values["output"], values["state"], err
}
