/**
 * Text like the output of a search over source code: many different words, some of them frequent. The size of a search
 * index depends on the number of different words, so a result of "yyyy…" would flatter it.
 */
const SYLLABLES = "ba ce di fo gu ha ki lo mu na pe ri so tu va we xi yo za len".split(" ");

export function prose(seed, bytes) {
  const random = generator(seed);
  let text = "";
  for (let line = 1; text.length < bytes; line++) {
    text += `src/${word(random)}/${word(random)}.ts:${Math.floor(random() * 900)}: const ${word(random)} = ${word(random)}(${word(random)});\n`;
  }
  return text.slice(0, bytes);
}

/** About 8,000 words; squaring makes the first ones frequent, as in any text. */
function word(random) {
  let rank = Math.floor(random() ** 2 * 8000);
  let text = "";
  do {
    text += SYLLABLES[rank % SYLLABLES.length];
    rank = Math.floor(rank / SYLLABLES.length);
  } while (rank > 0);
  return text;
}

/** Deterministic, so that every run and every product uses the same text. */
function generator(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
