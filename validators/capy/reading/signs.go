package reading

// A written is a sign by how it is written.
type written struct {
	text string
	sign sign
}

// latexSigns are the words of LaTeX that say what a sign says; of others there is
// nothing to read.
var latexSigns = []written{
	{`\approx`, equalSign}, {`\simeq`, equalSign}, {`\cong`, equalSign}, {`\sim`, equalSign}, {`\equiv`, equalSign}, {`\in`, equalSign}, {`\to`, arrowSign}, {`\rightarrow`, arrowSign}, {`\Rightarrow`, arrowSign},
	{`\implies`, arrowSign}, {`\le`, boundSign}, {`\leq`, boundSign}, {`\ge`, boundSign}, {`\geq`, boundSign}, {`\lt`, boundSign}, {`\gt`, boundSign}, {`\ne`, boundSign}, {`\neq`, boundSign}, {`\pm`, boundSign},
	{`\times`, operatorSign}, {`\cdot`, operatorSign}, {`\div`, operatorSign}, {`\frac`, operatorSign},
}

// latex is the sign that a text begins with as a word of LaTeX, or nil: \le in
// "\le 5", and none in "\left(".
func latex(t []byte) *written {
	if t[0] != '\\' {
		return nil
	}
	w := wordAt(t, 1)
	for i := range latexSigns {
		if s := &latexSigns[i]; string(w) == s.text[1:] {
			return s
		}
	}
	return nil
}

// runeSigns are the signs beyond ASCII.
var runeSigns = []written{
	{"≈", equalSign}, {"≅", equalSign}, {"＝", equalSign}, {"≃", equalSign}, {"∼", equalSign}, {"≡", equalSign}, {"∈", equalSign}, {"：", colonSign}, {"→", arrowSign}, {"⇒", arrowSign}, {"➡", arrowSign}, {"➔", arrowSign}, {"➜", arrowSign}, {"➞", arrowSign}, {"⟶", arrowSign}, {"⟹", arrowSign}, {"⇢", arrowSign}, {"↦", arrowSign}, {"≤", boundSign}, {"≥", boundSign}, {"±", boundSign}, {"≠", boundSign},
	{"≪", boundSign}, {"≫", boundSign}, {"–", dashSign}, {"—", dashSign}, {"−", dashSign}, {"―", dashSign}, {"‐", dashSign}, {"‑", dashSign}, {"×", operatorSign}, {"÷", operatorSign}, {"·", operatorSign}, {"⋅", operatorSign},
	{"Σ", operatorSign}, {"∑", operatorSign}, {"…", otherSign}, {"│", barSign}, {"⁄", slashSign}, {"为", equalSign}, {"約", equalSign}, {"约", equalSign},
}
