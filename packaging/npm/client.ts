import { spawn } from "node:child_process";
import type { components } from "./api.js";
import { binary } from "./binary.js";

type Schemas = components["schemas"];
/** A verdict of a gate: valid is false if the gate rejects the text. */
export type Verdict = Schemas["GateVerdict"];
/** A run that has ended or waits for an answer. Look at its status first. */
export type Run = Schemas["Run"];
/** A row of the list of runs. */
export type Summary = Schemas["Summary"];
/** The states of a run. */
export type RunStatus = Schemas["RunStatus"];
/** An error response of a server. */
export type Problem = Schemas["Problem"];

/** Options of gate: with has the gate's parameters. A server chooses the model of a gate itself. */
export interface GateOptions { with?: Record<string, unknown>; model?: string; signal?: AbortSignal }
/** Options of run. If you repeat a call, give it the same runId. */
export interface RunOptions { input?: Record<string, unknown>; model?: string; runId?: string; signal?: AbortSignal }
/** Options of runs. Default of limit: 50. Maximum for a server: 500. */
export interface RunsOptions { status?: RunStatus; cascade?: string; words?: string; limit?: number; signal?: AbortSignal }

/** A client of the program or of a server. Both have the same results and the same kind of error. */
export interface Client {
  /**
   * gate validates a text. A rejected text is a verdict with valid false. If there is no
   * verdict, for example because a model did not answer, gate throws a CapstanError.
   */
  gate(name: string, content: string, options?: GateOptions): Promise<Verdict>;
  /**
   * run starts a cascade and returns the run when it has ended or waits for an answer. A
   * blocked, failed or cancelled run is a result too. If the cascade or an input is invalid,
   * run throws a CapstanError.
   */
  run(cascade: string, options?: RunOptions): Promise<Run>;
  /** runs lists stored runs, the newest first. */
  runs(options?: RunsOptions): Promise<Summary[]>;
}

/** CapstanError reports that there is no verdict, no run or no list. */
export class CapstanError extends Error {
  override readonly name = "CapstanError";
  /** code is the code of the server's problem, or one of the codes below. */
  readonly code: Problem["code"] | "usage" | "broken" | "interrupted" | "not_started" | "unreachable" | "unexpected_output";
  /** exitStatus is the exit status of the program, if it was started. */
  readonly exitStatus?: number;
  /** problem is the response of the server, if it sent one. */
  readonly problem?: Problem;

  constructor(code: CapstanError["code"], message: string, more: { exitStatus?: number; problem?: Problem; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.code = code;
    if (more.exitStatus !== undefined) this.exitStatus = more.exitStatus;
    if (more.problem) this.problem = more.problem;
  }
}

/** Options of capstan. Default of program: the binary of the installed platform package. */
export interface ProgramOptions { program?: string; cwd?: string; env?: Record<string, string | undefined> }

/** capstan returns a client that starts the program for each call. */
export function capstan(options: ProgramOptions = {}): Client {
  const call = async (args: string[], stdin: string, signal: AbortSignal | undefined, statuses: number[]) => {
    const { status, stdout, stderr } = await execute(options, args, stdin, signal);
    if (statuses.includes(status)) {
      const value = parsed(stdout);
      if (value) return { status, value };
    }
    const code = ({ 2: "usage", 3: "broken", 130: "interrupted" } as const)[status] ?? "unexpected_output";
    throw new CapstanError(code, stderr.trim() || `capstan ended with ${status} and printed no result`, { exitStatus: status });
  };
  const flag = (name: string, value: string | undefined) => (value === undefined ? [] : [`--${name}=${value}`]);
  return {
    async gate(name, content, { with: parameters = {}, model, signal } = {}) {
      const assigned = Object.entries(parameters).filter(([, v]) => v !== undefined).map(([k, v]) => `--with=${k}:=${JSON.stringify(v)}`);
      const args = ["gate", "--format=json", ...flag("model", model), ...assigned, "--", name, "-"];
      const { status, value } = await call(args, content, signal, [0, 1]);
      if (value.valid !== (status === 0)) {
        throw unexpected(status, `valid is ${value.valid}`);
      }
      return value as Verdict;
    },
    async run(cascade, { input = {}, model, runId, signal } = {}) {
      const args = ["run", "--json", "--quiet", "--input-file=-", ...flag("model", model), ...flag("run-id", runId), "--", cascade];
      const { status, value } = await call(args, JSON.stringify(input), signal, [0, 1, 3, 4, 5, 130]);
      if (typeof value.run_id !== "string" || (value.status === "succeeded") !== (status === 0)) {
        throw unexpected(status, `the run's status is ${value.status}`);
      }
      return value as Run;
    },
    async runs({ status, cascade, words, limit = 50, signal } = {}) {
      const args = ["runs", "--json", `--limit=${limit}`, ...flag("status", status), ...flag("cascade", cascade), ...flag("words", words)];
      return (await call(args, "", signal, [0])).value.runs as Summary[];
    },
  };
}

/** Options of connect. The token is that of `capstan serve`. */
export interface ServerOptions { token?: string; fetch?: typeof fetch }

/** connect returns a client of the server at a URL, such as http://127.0.0.1:7070. */
export function connect(url: string | URL, options: ServerOptions = {}): Client {
  const call = async (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<any> => {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (options.token !== undefined) headers.Authorization = `Bearer ${options.token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let response, text;
    try {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      response = await (options.fetch ?? fetch)(new URL(path, url), { method, headers, ...sent, ...(signal && { signal }) });
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new CapstanError("unreachable", `${url}: ${(cause as Error).message}`, { cause });
    }
    const value = parsed(text);
    if (response.ok && value) return value;
    if (typeof value?.code === "string") throw new CapstanError(value.code, value.detail, { problem: value });
    throw new CapstanError("unexpected_output", `${url} answered ${response.status} without a result`);
  };
  return {
    async gate(name, content, { with: parameters, model, signal } = {}) {
      if (model !== undefined) throw new CapstanError("usage", "a server chooses the model of a gate itself: leave model out");
      const verdict = await call("POST", `/v1/gates/${encodeURIComponent(name)}`, { content, with: parameters }, signal);
      if (typeof verdict.valid !== "boolean") throw new CapstanError("unexpected_output", `${url} answered without a verdict`);
      return verdict;
    },
    async run(cascade, { input, model, runId, signal } = {}) {
      const { run_id } = await call("POST", "/v1/runs", { cascade, input, model, run_id: runId }, signal);
      for (let pause = 50; ; pause = Math.min(2 * pause, 1000)) {
        const run = await call("GET", `/v1/runs/${encodeURIComponent(run_id)}`, undefined, signal);
        if (run.status !== "running") return run;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
    async runs({ signal, limit = 50, ...filter } = {}) {
      const given = Object.entries({ ...filter, limit: String(limit) }).filter(([, value]) => value !== undefined);
      return (await call("GET", `/v1/runs?${new URLSearchParams(given as [string, string][])}`, undefined, signal)).runs;
    },
  };
}

function unexpected(status: number, what: string) {
  return new CapstanError("unexpected_output", `capstan ended with ${status}, but ${what}`, { exitStatus: status });
}

function parsed(text: string): any {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

function execute(options: ProgramOptions, args: string[], stdin: string, signal?: AbortSignal) {
  return new Promise<{ status: number; stdout: string; stderr: string }>((resolve, reject) => {
    const fail = (cause: Error) => reject(signal?.aborted ? signal.reason : new CapstanError("not_started", cause.message, { cause }));
    try {
      const child = spawn(options.program ?? binary(), args, {
        ...(options.cwd !== undefined && { cwd: options.cwd }),
        ...(options.env && { env: options.env }),
        ...(signal && { signal, killSignal: "SIGINT" as const }),
      });
      let stdout = "", stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
      child.stdin.on("error", () => {}).end(stdin); // a program that ends without reading closes the pipe
      child.on("error", fail);
      child.on("close", (status, killed) => {
        resolve({ status: status ?? -1, stdout, stderr: killed ? `capstan was ended by ${killed}` : stderr });
      });
    } catch (err) {
      fail(err as Error);
    }
  });
}
