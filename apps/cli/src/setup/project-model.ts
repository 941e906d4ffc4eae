import type { LanguageModel } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { UsageError } from "../exit.ts";
import { chooseModel, type ModelChoice } from "../models/choice.ts";
import { envValue, type Env } from "../models/providers.ts";
import { withSavedKeys } from "./key-files.ts";

/** A model that a file of the configuration names. */
export interface NamedModel {
  file: string;
  id: string | undefined;
}

interface ModelSources {
  flag: string | undefined;
  env: Env;
  project: NamedModel;
  user: NamedModel;
}

/**
 * The model of the flag, else of `CINCH_MODEL`, else of the project, else of the user, else of the first provider that has a key, else
 * `offline`. A project's model that can't be used is left out with a note, because the user may have no key for it. Throws `UsageError`.
 */
export function modelOf({ flag, env, project, user }: ModelSources): { model: ModelChoice; notes: string[] } {
  const keyed = withSavedKeys(env);
  if (flag !== undefined || envValue(env, "CINCH_MODEL") !== undefined)
    return { model: chooseModel(flag, keyed), notes: [] };
  const own = () => (user.id === undefined ? chooseModel(undefined, keyed) : fromFile(user, keyed));
  if (project.id === undefined) return { model: own(), notes: [] };
  try {
    return { model: fromFile(project, keyed), notes: [] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { model: own(), notes: [`${error.message} It is not used.`] };
  }
}

function fromFile({ file, id }: NamedModel, env: Env): ModelChoice {
  try {
    return chooseModel(id, env);
  } catch (error) {
    throw new UsageError(`${file}: "model": ${messageOf(error)}`, { cause: error });
  }
}

/** Any model by its id. A key that is saved meanwhile counts. */
export function modelResolver(first: ModelChoice, env: Env): (id: string) => Promise<LanguageModel> {
  const known = new Map([[first.id, first]]);
  return async (id) => {
    const choice = known.get(id) ?? chooseModel(id, withSavedKeys(env));
    known.set(id, choice);
    return choice.load();
  };
}
