import process from "node:process";
import { directoryBackend, FileError } from "@cinch/workspace";

/** Another process that writes. `slow`: contents that never end. `new`: creates numbered files that must not exist. */
const [kind, root] = process.argv.slice(2) as ["slow" | "new", string];
const backend = directoryBackend({ root });
const reach = { threadId: "another", resourceId: "me" };

async function* contents() {
  yield new TextEncoder().encode(`by ${process.pid}`);
  if (kind === "new") return;
  process.stdout.write("half\n");
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}

if (kind === "slow") await backend.write("/a.txt", contents(), {}, reach);
const won: number[] = [];
for (let at = 0; at < 200; at++) {
  try {
    await backend.write(`/made/${at}`, contents(), { ifVersion: null }, reach);
    won.push(at);
  } catch (error) {
    if (!(error instanceof FileError && error.problem === "changed")) throw error;
  }
}
process.stdout.write(JSON.stringify(won));
