/** A whole number for people, such as `1,204`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** A number with its noun: `1 tool`, `2 tools`. */
export function quantity(value: number, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${Math.round(value) === 1 ? noun : plural}`;
}

/** A number of bytes for people, such as `3.4 MB`. */
export function fileSize(bytes: number): string {
  if (bytes < 1_000) return quantity(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
