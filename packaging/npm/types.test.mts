// tsc compiles this file against the installed package. It must have exactly the errors named.
import { capstan, connect, CapstanError, type Client, type Run, type Verdict } from "capstan";
import type { paths } from "capstan/api";

const clients: Client[] = [capstan({ cwd: "." }), connect("http://127.0.0.1:7070", { token: "t" })];
for (const client of clients) {
  const verdict: Verdict = await client.gate("no_secrets", "text", { with: { max: 1 } });
  const valid: boolean = verdict.valid;
  const run: Run = await client.run("post.yaml", { input: { topic: "owls" } });
  if (run.status === "blocked" && run.error) console.log(valid, run.error.message);
  // @ts-expect-error a run has no such status
  if (run.status === "done") console.log(run);
  // @ts-expect-error a gate needs a text
  await client.gate("no_secrets");
  const [first] = await client.runs({ status: "waiting" });
  console.log(first?.started);
}
const code: CapstanError["code"] = "no_verdict";
// @ts-expect-error an unknown code
const unknown: CapstanError["code"] = "nothing";
type Start = paths["/v1/runs"]["post"];
export type { Start };
console.log(code, unknown);
