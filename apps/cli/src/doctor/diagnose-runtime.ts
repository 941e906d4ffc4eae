import { version } from "../version.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** An older Node does not get here: `bin.js` refuses it. */
export function diagnoseRuntime(): Diagnosis[] {
  const { platform, arch, versions } = process;
  return [{ area: "runtime", status: "ok", message: `cinch ${version()}, Node ${versions.node}, ${platform} ${arch}` }];
}
