/** Workers and fronts, each a process of its own. */
import { fork } from "node:child_process";
import { join } from "node:path";

/** `ask(command, options)` runs a command of `live-process.mjs`. */
export function peer() {
  const child = fork(join(import.meta.dirname, "live-process.mjs"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const waiting = new Map();
  let asked = 0;
  child.on("message", ({ id, result, failed }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (failed === undefined) resolve(result);
    else reject(new Error(`peer: ${failed}`));
  });
  return {
    ask: (command, options = {}) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        child.send({ id: asked, command, options });
      }),
    close: () => child.kill(),
  };
}
