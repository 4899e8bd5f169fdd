package builtins

// translated are how other languages say to ignore what came before: the words for
// ignore, before and instructions in the order in which they stand there. Chinese
// and Japanese are read character by character.
func translated() []injection {
	return []injection{
		phrase(3, "ignoriere ignoriert ignorieren ignorier vergiss vergesst missachte missachten", "vorherigen vorigen vorangegangenen vorangehenden bisherigen früheren obigen", "anweisungen instruktionen befehle vorgaben"),
		phrase(3, "ignore ignorez ignorer oublie oubliez oublier", "instructions consignes directives", "précédentes antérieures"),
		phrase(3, "ignora ignore ignorad ignoren ignorar olvida olvide olvidar", "instrucciones indicaciones órdenes", "anteriores previas precedentes"),
		phrase(3, "ignora ignorate ignorare dimentica dimenticate", "istruzioni indicazioni", "precedenti"),
		phrase(3, "ignore ignora ignorem ignorar esqueça esquece desconsidere", "instruções orientações", "anteriores prévias precedentes"),
		phrase(3, "negeer negeren vergeet", "vorige eerdere voorgaande bovenstaande", "instructies aanwijzingen opdrachten"),
		phrase(3, "zignoruj ignoruj zapomnij", "poprzednie wcześniejsze powyższe", "instrukcje polecenia"),
		phrase(3, "игнорируй игнорируйте проигнорируй забудь забудьте", "предыдущие прежние прошлые вышеуказанные", "инструкции указания команды"),
		phrase(6, "忽 无 無", "略 视 視", "前 上", "指 提", "令 示"),
		phrase(6, "前 上", "指", "示 令", "無", "視"),
		phrase(6, "ま", "で", "指", "示 令", "無", "視"),
	}
}
