package capy

// Judge judges one output. An error is a mistake in the options; whatever the
// text is, there is a report.
func Judge(o Options, text []byte) (Report, error) {
	g, err := New(o)
	if err != nil {
		return Report{}, err
	}
	return g.Judge(text), nil
}
