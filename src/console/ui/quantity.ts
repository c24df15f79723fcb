/** A whole number for people, such as `1,204`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** A number with its noun: `1 tool`, `2 tools`. */
export function quantity(value: number, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${Math.round(value) === 1 ? noun : plural}`;
}
