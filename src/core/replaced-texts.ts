/** What replaces all of these texts in another one by a mark. The longest go first: one may be part of another. */
export function replacing(texts: Iterable<string>): (text: string, mark: string) => string {
  const ordered = [...new Set(texts)].sort((one, other) => other.length - one.length);
  return (text, mark) => ordered.reduce((rest, wanted) => rest.replaceAll(wanted, mark), text);
}
