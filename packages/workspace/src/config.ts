import { checkKeys, CinchError } from "@cinch/core";
import * as z from "zod/mini";
import type { Backend } from "./backend.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";
import type { Shell } from "./shells/shell.ts";

/** Checks only that the methods exist. The conformance suite checks what they do. */
const having = <T>(what: string, ...methods: string[]) =>
  z.custom<T>((value) => {
    const object = Object(value) as Record<string, unknown>;
    return object === value && methods.every((method) => typeof object[method] === "function");
  }, `must be ${what}`);

const paths = z.optional(z.array(z.string()));
const flag = z.optional(z.boolean());
const folder = z.string("must be the path of a folder").check(z.minLength(1));
const backend = having<Backend>("a backend", "list", "stat", "read", "write", "delete", "glob", "grep");
const sandbox = having<Sandbox>("a sandbox", "probe", "describe", "wrap");
const env = z.optional(z.record(z.string(), z.unknown()));
const hook = z.optional(z.custom((value) => typeof value === "function", "must be a function"));
/** `pathRules` checks them. */
const permissions = z.optional(z.unknown());

const SHAPES = {
  localWorkspace: z.strictObject({
    root: folder,
    permissions,
    sandbox: z.optional(
      z.union([z.literal("auto"), z.literal("none"), sandbox], 'must be "auto", "none" or a sandbox'),
    ),
    trusted: flag,
    hosts: paths,
    readable: paths,
    hidden: paths,
    env,
    cache: z.optional(folder),
    shared: flag,
  }),
  createWorkspace: z.strictObject({
    backend,
    permissions,
    shell: z.optional(having<Shell>("a shell", "protection", "start")),
    root: z.optional(folder),
    cache: z.optional(folder),
    trusted: flag,
    shared: flag,
  }),
  directoryBackend: z.strictObject({ root: folder, confinement: z.optional(z.enum(["descriptors", "checks"])) }),
  compositeBackend: z.strictObject({ default: backend, routes: z.record(z.string(), backend) }),
  localShell: z.strictObject({ root: folder, env, trusted: flag }),
  sandboxShell: z.strictObject({
    root: folder,
    env,
    trusted: flag,
    sandbox: z.optional(z.union([z.literal("auto"), sandbox], 'must be "auto" or a sandbox')),
    hosts: paths,
    readable: paths,
    hidden: paths,
    permissions,
  }),
  bwrapSandbox: z.strictObject({ bwrap: z.optional(z.string().check(z.minLength(1))) }),
  virtualShell: z.strictObject({ backend, env }),
  storeBackend: z.strictObject({ scope: z.optional(z.literal("resource")) }),
  withPolicy: z.strictObject({ before: hook, after: hook, guards: hook }),
};

/** Throws `INVALID_CONFIG` for anything but a backend. */
export const checkBackend = (what: string, value: unknown): void => checkShape(what, backend, value);

/** Throws `INVALID_CONFIG`, also for unknown keys: a misspelt one would be a missing protection. */
export function checkConfig(what: keyof typeof SHAPES, config: unknown): void {
  checkKeys(what, config, Object.keys(SHAPES[what].def.shape));
  checkShape(what, SHAPES[what], config);
}

function checkShape(what: string, shape: z.ZodMiniType, value: unknown): void {
  const { error } = z.safeParse(shape, value);
  if (error) throw new CinchError("INVALID_CONFIG", `${what}: ${z.prettifyError(error)}`);
}
