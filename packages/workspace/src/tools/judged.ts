import type { Fit, JudgeContext, PathRule, Policy } from "@cinch/core";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { fileRules, readPolicy, type FileRules } from "../path-rules/file-rules.ts";
import { agentPathRules } from "../path-rules/path-rules.ts";
import { PathNames } from "../path-rules/path-names.ts";
import { fileFit, suggestForFile, suggestForFolder } from "../path-rules/pattern-fit.ts";

interface Judged<Args> {
  names(args: Args, context: JudgeContext): Promise<PathNames>;
  fit(pattern: string, path: string, args: Args): Fit;
  suggest(path: string): string | undefined;
  policy(rules: FileRules, path: string): Policy | undefined;
  deps: FileToolDeps;
}

/** The parts of a tool by which the harness judges a call that concerns one path. */
export const judged = <Args>({ names, fit, suggest, policy, deps }: Judged<Args>) => ({
  async matches(pattern: string, args: Args, context: JudgeContext) {
    return (await names(args, context)).fit((path) => fit(pattern, path, args));
  },
  suggest: async (args: Args, context: JudgeContext) => (await names(args, context)).suggestion(suggest),
  policy: async (args: Args, context: JudgeContext) =>
    (await names(args, context)).policy((path) => policy(deps.rules, path)),
  async pathPolicy(list: readonly PathRule[], args: Args, context: JudgeContext) {
    const rules = fileRules(agentPathRules([list]));
    return (await names(args, context)).policy((path) => policy(rules, path));
  },
});

export const judgedAsFile = (deps: FileToolDeps, policy: (rules: FileRules, path: string) => Policy | undefined) =>
  judged<{ file_path: string }>({
    names: ({ file_path }, context) => PathNames.of(deps.backend, deps.path(file_path), context),
    fit: fileFit,
    suggest: suggestForFile,
    policy,
    deps,
  });

export const judgedAsFolder = (deps: FileToolDeps, fit: (pattern: string, path: string) => Fit) =>
  judged<{ path?: string | undefined }>({
    names: ({ path = "/" }, context) => PathNames.of(deps.backend, deps.path(path), context),
    fit,
    suggest: suggestForFolder,
    policy: readPolicy,
    deps,
  });
