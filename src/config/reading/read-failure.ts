const reasons: Readonly<Record<string, (expected: string) => string>> = {
  ENOENT: (expected) => `there is no such file; expected ${expected}`,
  EISDIR: (expected) => `this is a folder; expected ${expected}`,
  EACCES: () => 'the file may not be read; expected one that this user may read',
  ERR_ENCODING_INVALID_ENCODED_DATA: () => 'not UTF-8 text',
};

/** Why a file that the user named could not be read, and what it should have been. */
export function readFailure(error: unknown, expected: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code]?.(expected) ?? `the file cannot be read${code === '' ? '' : ` (${code})`}`;
}
