/** A longer code would take the page seconds: it has about one element for each five characters. */
const MAX_CHARACTERS = 50_000;

/** Whether the highlighter is asked. @param language empty for none. */
export function mayHaveColours(code: string, language: string): boolean {
  return language !== '' && code.length <= MAX_CHARACTERS;
}
