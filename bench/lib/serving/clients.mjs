/** Clients in a process of their own, so that what they cost is not counted for the server. */
import { fork } from "node:child_process";
import { join } from "node:path";

/** `ask(command, options)` runs a command of `client-process.mjs`. */
export function clients() {
  const child = fork(join(import.meta.dirname, "client-process.mjs"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const waiting = new Map();
  let asked = 0;
  child.on("message", ({ id, result, failed }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (failed === undefined) resolve(result);
    else reject(new Error(`client: ${failed}`));
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
