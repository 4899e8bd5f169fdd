#!/usr/bin/env node
import { spawn } from "node:child_process";
import { binary } from "./binary.js";

let path;
try {
  path = binary();
} catch (err) {
  console.error(`capstan: ${err.message}`);
  process.exit(3);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends SIGINT to the child too. A second SIGINT would end a run at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
}
child.on("error", (err) => {
  console.error(`capstan: ${path}: ${err.message}`);
  process.exit(3);
});
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
