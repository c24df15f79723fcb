/**
 * Turns the JSON of an event from one version of its type into the next version. It makes exactly one event of the same
 * type, because clients hold its seq. The input is unchecked. The current schema parses what the last upcaster returns.
 */
export type Upcaster = (event: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** For types that were given a field `cause`: their older events have the cause `unrecorded`. */
export const withoutCause: Upcaster = (event) => ({ ...event, cause: { kind: 'unrecorded' } });
