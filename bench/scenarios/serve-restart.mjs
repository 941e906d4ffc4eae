/** A server is killed, and another starts on its store and port: how long until all clients, each at its own thread, are current. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { clients } from "../lib/serving/clients.mjs";

const SERVER = join(import.meta.dirname, "../lib/serving/server-process.mjs");

export default async function serveRestart({ streams, folder }) {
  const first = await serverProcess({ folder, port: 0, threads: streams });
  const { port, seq, paths } = first;
  const watching = clients();
  await watching.ask("watch", { port, paths });
  first.kill();
  const from = performance.now();
  const all = watching.ask("reconnect", { port, paths, since: seq - 1, seq });
  const second = await serverProcess({ folder, port, threads: 0 });
  const listening = performance.now();
  await all;
  const done = performance.now();
  const cpuMs = await second.cpuMs();
  second.kill();
  watching.close();
  return { currentMs: done - listening, startMs: listening - from, cpuMs };
}

/** Settles when it listens. */
function serverProcess(options) {
  const child = fork(SERVER, [JSON.stringify(options)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const cpuMs = () =>
    new Promise((resolve) => {
      child.once("message", (message) => resolve(message.cpuMs));
      child.send("cpu");
    });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.once("message", (message) => resolve({ ...message, cpuMs, kill: () => child.kill("SIGKILL") }));
  });
}
