import { createRequire } from "node:module";

/** binary returns the path of the program in the platform package that npm installed. */
export function binary() {
  const name = `@SCOPE/capstan-${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "capstan.exe" : "capstan";
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/${file}`);
  } catch {
    throw new Error(
      `the package ${name} is missing. If npm installs optional dependencies (no --omit=optional), ` +
        "there is no build for this platform: build Capstan with Go instead",
    );
  }
}
