/** One small change to the code behind a promise. Its tests must fail with it. */
export interface Mutant {
  /** The promise (P1 to P11 of the README) or the protection that it breaks, in a few words. */
  attacks: string;
  file: string;
  /** Must occur exactly once in the file. Short and characteristic, so that it survives edits nearby. */
  find: string;
  replace: string;
  tests: string[];
}

/** Mutants of one package, with paths relative to its `src` and `test`. */
export const inPackage = (folder: string, mutants: readonly Mutant[]): Mutant[] =>
  mutants.map(({ file, tests, ...rest }) => ({
    ...rest,
    file: `${folder}/src/${file}`,
    tests: tests.map((test) => (test.includes("/test/") ? test : `${folder}/test/${test}.test.ts`)),
  }));

export const occurrences = (source: string, { find }: Mutant): number => source.split(find).length - 1;

export const applied = (source: string, { find, replace }: Mutant): string => source.split(find).join(replace);
