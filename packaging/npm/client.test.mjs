// Tests of the installed package. Run them in the folder of the installation:
//
//	node --test client.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { CapstanError, capstan, connect } from "capstan";

const folder = mkdtempSync(join(tmpdir(), "capstan-client-"));
const env = { ...process.env, CAPSTAN_STORE: join(folder, "runs.db"), CAPSTAN_MODEL: "scripted", CAPSTAN_TOKEN: undefined };
const token = "0123456789abcdef";
const key = "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\nAKIAIOSFODNN7EXAMPLF\n";

const files = {
  "post.yaml": `cascade_id: post
inputs_schema: {topic: The subject}
phases:
  - {name: draft, instructions: "Write about {{ input.topic }}", wards: {post: [{validator: max_length, with: {max: 12}, mode: blocking}]}}
`,
  "post.scripted.yaml": `- {phase: draft, contains: owls, reply: Owls fly., times: always}
- {phase: draft, contains: emus, reply: Emus run very fast indeed., times: always}
`,
  "ask.yaml": `cascade_id: ask
phases:
  - {name: publish, instructions: Say hello, human_input: {prompt: "Publish this?"}}
`,
  "ask.scripted.yaml": "- {phase: publish, reply: hello, times: always}\n",
  "gates.yaml": `cascade_id: gates
validators:
  owls: {expr: "content contains 'owl'", reason: no owls}
  crash: {exec: [sh, -c, "echo broken >&2; exit 9"]}
phases:
  - {name: a, instructions: a}
`,
};

let server, url;
before(async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  server = spawn(process.execPath, [resolve("node_modules/capstan/capstan.js"), "serve", "--addr=127.0.0.1:0", "."], {
    cwd: folder, env: { ...env, CAPSTAN_TOKEN: token, CAPSTAN_STORE: join(folder, "server.db") }, stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  for await (const text of server.stderr.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    url = /http:\/\/127\.0\.0\.1:\d+/.exec((printed += text))?.[0];
    if (url) return;
  }
  throw new Error(`the server did not start: ${printed}`);
});
after(async () => {
  if (server.exitCode === null && server.signalCode === null) {
    server.kill("SIGTERM"); // the launcher passes the signal on, so the port closes
    await once(server, "exit");
  }
  await assert.rejects(connect(url, { token }).runs(), { code: "unreachable" });
  rmSync(folder, { recursive: true });
});

const clients = { program: () => capstan({ cwd: folder, env }), server: () => connect(url, { token }) };
const cascade = { program: (name) => `${name}.yaml`, server: (name) => name }; // a server offers names
const rejected = (code, more = {}) => (err) => {
  assert.ok(err instanceof CapstanError, err.stack);
  assert.equal(err.code, code, err.message);
  for (const [name, value] of Object.entries(more)) assert.deepEqual(err[name], value);
  return true;
};

for (const [kind, make] of Object.entries(clients)) {
  test(`${kind}: gate accepts a text`, async () => {
    const verdict = await make().gate("no_secrets", "A harmless text");
    assert.equal(verdict.valid, true);
    assert.ok(verdict.reason);
  });
  test(`${kind}: gate rejects a text with a result, not an error`, async () => {
    const verdict = await make().gate("no_secrets", key);
    assert.equal(verdict.valid, false);
    assert.equal(verdict.issues[0].check, "no_secrets");
  });
  test(`${kind}: gate takes parameters`, async () => {
    const words = (max) => make().gate("word_count", "Three short words", { with: { max } });
    assert.equal((await words(2)).valid, false);
    assert.equal((await words(3)).valid, true);
  });
  test(`${kind}: gate throws without a verdict`, async () => {
    await assert.rejects(make().gate("nothing", "text"), rejected(kind === "program" ? "usage" : "unknown_gate"));
    await assert.rejects(make().gate("word_count", "text", { with: { max: "x" } }), rejected(kind === "program" ? "usage" : "bad_parameters"));
    await assert.rejects(make().gate("--help", "text"), rejected(kind === "program" ? "usage" : "unknown_gate"));
  });
  test(`${kind}: run returns each end of a run`, async () => {
    const client = make(), name = cascade[kind];
    const owls = await client.run(name("post"), { input: { topic: "owls" }, runId: `${kind}-owls` });
    assert.deepEqual([owls.run_id, owls.status, owls.output, owls.error], [`${kind}-owls`, "succeeded", "Owls fly.", null]);
    const emus = await client.run(name("post"), { input: { topic: "emus" } });
    assert.deepEqual([emus.status, emus.output, emus.error.code, emus.verdicts[0].valid], ["blocked", null, "blocked", false]);
    const bees = await client.run(name("post"), { input: { topic: "bees" } });
    assert.deepEqual([bees.status, bees.output], ["failed", null]);
    const asked = await client.run(name("ask"));
    assert.equal(asked.status, "waiting");
    if (kind === "server") assert.equal(asked.questions[0].question.prompt, "Publish this?");
  });
  test(`${kind}: run throws if nothing ran`, async () => {
    await assert.rejects(make().run(cascade[kind]("nothing")), rejected(kind === "program" ? "usage" : "unknown_cascade"));
    await assert.rejects(make().run(cascade[kind]("post")), rejected(kind === "program" ? "usage" : "invalid_input"));
  });
  test(`${kind}: runs lists and filters`, async () => {
    const client = make();
    assert.deepEqual((await client.runs({ status: "succeeded" })).map((r) => [r.run_id, r.cascade_id]), [[`${kind}-owls`, "post"]]);
    assert.equal((await client.runs({ cascade: "post" })).length, 3);
    assert.equal((await client.runs({ limit: 2 })).length, 2);
  });
}

test("program: a gate of a file", async () => {
  assert.equal((await clients.program().gate("gates.yaml:owls", "an owl")).valid, true);
  await assert.rejects(clients.program().gate("gates.yaml:crash", "text"), rejected("broken", { exitStatus: 3 }));
});

test("program: an exit status that contradicts the verdict is an error", async () => {
  for (const [text, status] of [['{"valid": true, "reason": ""}', 1], ['{"valid": false, "reason": ""}', 0], ["", 0], ["", 1], ["{}", 1], ["null", 1], ["true", 0]]) {
    const program = join(folder, "program");
    writeFileSync(program, `#!/bin/sh\nprintf '%s' '${text}'\nexit ${status}\n`);
    chmodSync(program, 0o755);
    await assert.rejects(capstan({ program }).gate("no_secrets", "text"), rejected("unexpected_output", { exitStatus: status }), `${text} ${status}`);
    await assert.rejects(capstan({ program }).run("post.yaml"), rejected("unexpected_output", { exitStatus: status }), `${text} ${status}`);
  }
  await assert.rejects(capstan({ program: join(folder, "missing") }).runs(), rejected("not_started"));
});

test("program: an aborted signal ends the program", async () => {
  const program = join(folder, "sleeper");
  writeFileSync(program, "#!/bin/sh\nexec sleep 60\n");
  chmodSync(program, 0o755);
  await assert.rejects(capstan({ program }).gate("no_secrets", "text", { signal: AbortSignal.timeout(100) }), { name: "TimeoutError" });
});

test("server: errors of the server and of others before it", async () => {
  await assert.rejects(connect(url).runs(), rejected("unauthorized"));
  const answers = { "/v1/gates/html": [200, "<p>"], "/v1/gates/empty": [200, "{}"], "/v1/gates/null": [200, "null"], "/v1/gates/proxy": [502, "bad gateway"],
    "/v1/gates/silent": [502, JSON.stringify({ type: "about:blank", title: "", status: 502, code: "no_verdict", detail: "no model" })] };
  const fake = createServer((request, response) => response.writeHead(answers[request.url][0]).end(answers[request.url][1])).listen(0, "127.0.0.1");
  await once(fake, "listening");
  const client = connect(`http://127.0.0.1:${fake.address().port}`);
  for (const name of ["html", "empty", "null", "proxy"]) await assert.rejects(client.gate(name, "text"), rejected("unexpected_output"), name);
  await assert.rejects(client.gate("silent", "text"), rejected("no_verdict", { message: "no model" }));
  await assert.rejects(client.gate("html", "text", { model: "m" }), rejected("usage"));
  fake.close();
});
