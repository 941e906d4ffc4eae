/** Lets a part die and shows what the page says of it. Returns after how many milliseconds the thread went on, where the page has a limit. */
export type DeathCheck = () => Promise<number | void>;

/** By the name of the row of the page. */
export type DeathChecks = Record<string, DeathCheck>;
