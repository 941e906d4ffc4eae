import { dirname, join } from "node:path";
import { bundleAll } from "../../../packages/testkit/test/bundle.ts";

const cli = join(import.meta.dirname, "..");

/** The programs that the tests of this package start. They share most of their code, so they are bundled together. */
export const [MAIN = "", APP = "", PAGER = "", COMPOSER = "", LINES = "", OPENER = "", TRUSTER = ""] = await bundleAll([
  join(cli, "src/main.ts"),
  join(cli, "test/app/programs/app.ts"),
  join(cli, "test/app/programs/pager.ts"),
  join(cli, "test/terminal/programs/composer.ts"),
  join(cli, "test/line/programs/lines.ts"),
  join(cli, "test/setup/opening-process.ts"),
  join(cli, "test/setup/trusting-process.ts"),
  // `cinch torture` starts it.
  join(cli, "../../packages/testkit/src/torture/child.ts"),
]);

/** What a user starts. */
export const CINCH = join(dirname(MAIN), "../bin.js");
