import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";

/** An example that serves a page, until it is disposed. */
export async function servedExample(name: string) {
  const main = join(import.meta.dirname, "../examples", name, "main.ts");
  const child = spawn(process.execPath, ["-C", "@cinch/source", main, "--serve"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  while (!/Open (\S+)/.test(printed)) await once(child.stdout, "data");
  return {
    url: /Open (\S+)/.exec(printed)![1]!,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
