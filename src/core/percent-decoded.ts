/** The text with what its percent codes stand for, such as a part of a URL; undefined if a `%` begins no code. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The text with what its percent codes stand for; the text as it is if a `%` begins no code. */
export function percentDecodedIfValid(text: string): string {
  return percentDecoded(text) ?? text;
}
