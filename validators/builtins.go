package validators

// Builtins lists the validators that come with the language, the computed ones
// first, then the judges.
func Builtins() []Validator {
	return append([]Validator{
		NonEmpty, MaxLength, MinLength, LengthCheck, WordCount,
		Contains, Excludes, Regexp, Keywords, KeywordValidator,
		JSON, MatchesSchema, Markdown, Presentable,
		NoSecrets, PII, InputSanitizer, SimilarToInput, SimpleValidator,
		Cites, Language, NumbersKept, LinksKept, SameStructure,
	}, judges()...)
}
