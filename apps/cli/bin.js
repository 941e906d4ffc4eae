#!/usr/bin/env node
// Plain JavaScript that any Node can run, so that an old one prints a message instead of a stack trace.
import { existsSync } from "node:fs";
import process from "node:process";

const MIN_NODE = 24;
const { node } = process.versions;
const isSource = process.execArgv.includes("@cinch/source");

if (Number.parseInt(node, 10) < MIN_NODE) {
  console.error(
    `cinch needs Node ${MIN_NODE} or newer, and this is Node ${node}. Install a newer one from https://nodejs.org.`,
  );
  process.exitCode = 2;
} else if (!isSource && !existsSync(new URL("./dist/main.js", import.meta.url))) {
  console.error("This clone of the repository is not built. Use npm start -- instead of cinch: npm start -- --help");
  process.exitCode = 2;
} else {
  await import("#main");
}
