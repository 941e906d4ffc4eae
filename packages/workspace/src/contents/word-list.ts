/** The words of a list that is written as text. */
export const wordList = (text: string): string[] => text.trim().split(/\s+/);
