/**
 * Whether a key belongs to the input of a character, as of Chinese or Japanese. In Safari, the key that ends it comes when the input is over,
 * and only its code says so.
 */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
