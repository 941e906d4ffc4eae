import { fork } from "node:child_process";

/** A process that runs the commands that it is asked for: `ask(command, options)`. */
export function askedProcess(program) {
  const child = fork(program, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const waiting = new Map();
  let asked = 0;
  child.on("message", ({ id, result, failed }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (failed === undefined) resolve(result);
    else reject(new Error(`The other process: ${failed}`));
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
