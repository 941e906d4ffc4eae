import process from "node:process";
import { openProject } from "../../src/setup/open-project.ts";

const { db, close } = await openProject({ folder: process.argv[2]!, env: process.env, flags: {}, trusted: false });
process.stdout.write(db);
await close();
