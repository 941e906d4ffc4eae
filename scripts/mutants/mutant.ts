/** One small change to the code behind a promise. The tests that it names must fail with it. */
export interface Mutant {
  /** The promise (P1 to P11 of the README) or the wall that it breaks, in a few words. */
  attacks: string;
  file: string;
  /** Must occur exactly once in the file. Short and characteristic, so that it survives edits beside it. */
  find: string;
  replace: string;
  tests: string[];
}

/** Mutants of one package, whose paths are relative to it. */
export const inPackage = (folder: string, mutants: readonly Mutant[]): Mutant[] =>
  mutants.map(({ file, tests, ...rest }) => ({
    ...rest,
    file: `${folder}/src/${file}`,
    tests: tests.map((test) => (test.includes("/test/") ? test : `${folder}/test/${test}.test.ts`)),
  }));

/** How often the text occurs. */
export const occurrences = (source: string, { find }: Mutant): number => source.split(find).length - 1;

export const applied = (source: string, { find, replace }: Mutant): string => source.split(find).join(replace);
