import process from "node:process";
import { trustFolder } from "../../src/setup/trust.ts";

for (const folder of process.argv.slice(2)) trustFolder({ folder, env: process.env });
