import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = process.env.CINCH_ROOT ?? join(import.meta.dirname, "../..");

/** Imports a package of Cinch as it is published. */
export const built = (name, file = "index") =>
  import(pathToFileURL(join(root, "packages", name, `dist/${file}.js`)).href);
