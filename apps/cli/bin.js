#!/usr/bin/env node
// Plain JavaScript that any Node can read: an old one gets a sentence, not a stack trace.
import { existsSync } from "node:fs";
import process from "node:process";

const NEEDED = 24;
const { node } = process.versions;
const isSource = process.execArgv.includes("@cinch/source");

if (Number.parseInt(node, 10) < NEEDED) {
  console.error(
    `cinch needs Node ${NEEDED} or newer, and this is Node ${node}. Install a newer one from https://nodejs.org.`,
  );
  process.exitCode = 2;
} else if (!isSource && !existsSync(new URL("./dist/main.js", import.meta.url))) {
  console.error(
    "This is a clone of the repository, and not built. There, npm start -- stands for cinch: npm start -- --help",
  );
  process.exitCode = 2;
} else {
  await import("#main");
}
