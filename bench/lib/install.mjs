import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { products } from "./products.mjs";

const BENCH = join(import.meta.dirname, "..");

/** Installs the packages of each product from its lock file, once. Returns the names of the products that can be measured. */
export function installed(names) {
  return names.filter((name) => {
    const { install } = products[name];
    if (install === undefined || existsSync(join(BENCH, install, "node_modules"))) return true;
    console.error(`Installing ${name} from bench/${join(install, "package-lock.json")} …`);
    const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], {
      cwd: join(BENCH, install),
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    });
    if (status !== 0) console.error(`${name} could not be installed and is not measured.`);
    return status === 0;
  });
}
