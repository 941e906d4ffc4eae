/** The words of a list that is written as text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
