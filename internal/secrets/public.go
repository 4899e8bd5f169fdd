package secrets

// publicTokens are FNV-1a digests of public tokens that gitleaks lists: browser
// keys for Google's services, keys of Firebase's samples, and the key of a
// search index.
var publicTokens = map[uint64]bool{
	0x6acbd824bd32bbd4: true, 0x29a336c7244f48dd: true, 0x08b545962adc7d8b: true, 0xe7666dbb286c6c2e: true,
	0x99b2726346a1e92a: true, 0x12113c2e6979f447: true, 0x828818f833257868: true, 0x6835e0f288832a40: true,
	0x816cd10fdb11ead0: true, 0xadbd04e3fe1b6d49: true, 0xdb9422f1dd332dcc: true, 0x515cb771a4238032: true,
	0xe754678ea2b14ef1: true, 0xc73f1e61952e6987: true, 0x294c63f8344d5df1: true, 0xd8e13cded25333c6: true,
}
