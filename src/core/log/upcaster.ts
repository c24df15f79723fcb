/**
 * Turns the JSON of an event of one version of its type into that of the next. One event stays one event of the same
 * type, because clients hold its seq. The input is unchecked: the schema of today parses what the last upcaster returns.
 */
export type Upcaster = (event: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** For a type that has learnt to tell its cause: earlier events do not tell it. */
export const withoutCause: Upcaster = (event) => ({ ...event, cause: { kind: 'unrecorded' } });
