package backtest

import "github.com/seed61713e19/capstan/validators"

// excerpt is the beginning of a text, on one line.
func excerpt(text string) string { return validators.OneLine(text, 80) }

// clean is a text that a terminal shows as it is.
func clean(s string) string { return validators.OneLine(s, 300) }
