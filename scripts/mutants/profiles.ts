import { inPackage } from "./mutant.ts";

/** What a profile changes, and for which model. */
export const profiles = inPackage("packages/core", [
  {
    attacks: "P10: a tool that a profile excludes may run",
    file: "turn/setup.ts",
    find: "!isExcluded(name) && !toolsOfOtherModes",
    replace: "!toolsOfOtherModes",
    tests: ["config/excluded-tools"],
  },
  {
    attacks: "P10: a profile does not bind calls that are under way when it is registered",
    file: "turn/setup.ts",
    find: "profileOf(nameOfModel()).excludedTools.has(name)",
    replace: "profile.excludedTools.has(name)",
    tests: ["config/excluded-tools"],
  },
  {
    attacks: "P10: a model that can't be resolved is bound by no profile",
    file: "config/profiles.ts",
    find: "layers.flatMap(({ profile }) => profile.excludedTools ?? [])",
    replace: "",
    tests: ["config/excluded-tools"],
  },
  {
    attacks: "P10: a call is judged by the profile of a model that was switched to later",
    file: "config/modes.ts",
    find: "turn?.modelId ?? this.modelId(control, mode)",
    replace: "turn ? this.modelId(control, mode) : this.modelId(control, mode)",
    tests: ["config/excluded-tools"],
  },
  {
    attacks: "P10: a model that is given as a string has no profile",
    file: "config/modes.ts",
    find: "if (hasProfiles()) await this.#models.findName(modelId, mode);",
    replace: "",
    tests: ["config/profiles", "config/excluded-tools"],
  },
  {
    attacks: "profiles: an excluded tool is listed",
    file: "turn/setup.ts",
    find: ".filter(({ name }) => !excludedTools.has(name))",
    replace: "",
    tests: ["config/profiles"],
  },
  {
    attacks: "profiles: a change is found out only after a restart",
    file: "config/modes.ts",
    find: "if (this.#profilesVersion !== profilesVersion()) this.#setups.clear();",
    replace: "",
    tests: ["config/profiles"],
  },
  {
    attacks: "profiles: the text of a profile is not a part of the head's key",
    file: "turn/setup.ts",
    find: '...(around.some((one) => one !== "") ? [around] : [])',
    replace: "",
    tests: ["config/profiles"],
  },
  {
    attacks: "profiles: those of the provider override those of the model",
    file: "config/profiles.ts",
    find: "[...ofAll, ...ofModel]",
    replace: "[...ofModel, ...ofAll]",
    tests: ["config/profiles"],
  },
  {
    attacks: "profiles: the caller's own general-purpose agent is turned off",
    file: "config/delegation.ts",
    find: "return this.#hasOwnGeneralPurpose ? undefined : ",
    replace: "return ",
    tests: ["subagents/general-purpose"],
  },
  {
    attacks: "profiles: general-purpose can be called where it is off",
    file: "config/delegation.ts",
    find: "return agent === generalPurpose ? undefined : agent;",
    replace: "return agent;",
    tests: ["subagents/general-purpose"],
  },
]);
