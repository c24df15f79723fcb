/* Nothing is imported here: threads that load no packages use it. */

/** The message of a thrown value. Never show it to a client: it may hold secrets. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The thrown value, or an `Error` with its text. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
