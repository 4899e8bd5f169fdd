// Verifies the vectors with other people's code: the envelope's encoding with
// @sigstore/core, canonical JSON with canonicalize, Ed25519 and SHA-256 with
// node. It knows nothing of how receipts are made. Usage: node verify.mjs FILE
import {createHash, createPublicKey, verify} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(process.env.CAPSTAN_NODE_MODULES + '/');
const {dsse} = require('@sigstore/core');
const canonicalize = require('canonicalize');

const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');

function looksGood(vector) {
  const text = Buffer.from(vector.text, 'base64');
  let envelope;
  try {
    envelope = JSON.parse(vector.receipt);
  } catch {
    return false;
  }
  if (envelope.signatures?.length !== 1 || typeof envelope.payload !== 'string') return false;
  const payload = Buffer.from(envelope.payload, 'base64');
  const key = createPublicKey(vector.public);
  const id = 'sha256:' + sha256(key.export({type: 'spki', format: 'der'}));
  const [{keyid, sig}] = envelope.signatures;
  const signed = dsse.preAuthEncoding(envelope.payloadType, payload);
  if (keyid !== id || !verify(null, signed, key, Buffer.from(sig, 'base64'))) return false;
  const statement = JSON.parse(payload);
  if (canonicalize(statement) !== payload.toString()) return false;
  return statement._type === 'https://in-toto.io/Statement/v1' && statement.predicate.verificationResult === 'PASSED' &&
    statement.subject.some(s => s.digest.sha256 === sha256(text));
}

const vectors = JSON.parse(readFileSync(process.argv[2]));
for (const vector of vectors) {
  console.log(JSON.stringify({name: vector.name, good: looksGood(vector)}));
}
