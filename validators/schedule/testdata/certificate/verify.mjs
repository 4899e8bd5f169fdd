// Checks certificates as the package validators/schedule/internal/statements describes them, without Capstan:
//   node verify.mjs public.pem PURPOSE items.json certificate.json...
// It prints "good", or what is wrong, for each, and exits with 0 or 1.
import crypto from "node:crypto";
import fs from "node:fs";

const [keyFile, purpose, itemsFile, ...files] = process.argv.slice(2);
const sha256 = (data) => crypto.createHash("sha256").update(data).digest("hex");

// RFC 8785: what JSON.stringify does, with the keys in the order of sort().
const canonical = (v) =>
  Array.isArray(v) ? "[" + v.map(canonical).join(",") + "]"
  : v && typeof v === "object" ? "{" + Object.keys(v).sort().map((k) => JSON.stringify(k) + ":" + canonical(v[k])).join(",") + "}"
  : JSON.stringify(v);

// DSSE's pre-authentication encoding.
const signed = (payload) => Buffer.concat([
  Buffer.from(`DSSEv1 ${Buffer.byteLength(purpose)} ${purpose} ${payload.length} `), payload]);

// The items by time, send type, caption, each as a line without its nulls.
function scheduleHash(items) {
  const lines = items.map((item) => {
    const own = Object.fromEntries(Object.entries(item).filter(([, v]) => v !== null));
    return { key: [item.scheduled_date + "T" + item.scheduled_time, item.send_type_key, typeof item.caption_id === "number" ? item.caption_id : 0], line: canonical(own) };
  });
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  lines.sort((a, b) => order(a.key[0], b.key[0]) || order(a.key[1], b.key[1]) || a.key[2] - b.key[2] || order(a.line, b.line));
  return sha256(lines.map((l) => l.line + "\n").join(""));
}

function wrong(file) {
  const { certificate_signature: signature, ...rest } = JSON.parse(fs.readFileSync(file, "utf8"));
  const key = crypto.createPublicKey(fs.readFileSync(keyFile));
  const id = "sha256:" + sha256(key.export({ type: "spki", format: "der" }));
  if (rest.signing_key_id !== id) return "the key is not " + rest.signing_key_id;
  if (!/^ed25519:[A-Za-z0-9+/]{86}==$/.test(signature ?? "")) return "the signature is not written as it has to be";
  const raw = Buffer.from(signature.slice(8), "base64");
  if (raw.toString("base64") !== signature.slice(8)) return "the signature is not written as it has to be";
  if (!crypto.verify(null, signed(Buffer.from(canonical(rest))), key, raw)) return "the signature is not the key's on this";
  if (rest.schedule_hash !== scheduleHash(JSON.parse(fs.readFileSync(itemsFile, "utf8")))) return "it is of other items";
}

const said = files.map((file) => wrong(file) ?? "good");
console.log(said.join("\n"));
process.exit(said.every((word) => word === "good") ? 0 : 1);
