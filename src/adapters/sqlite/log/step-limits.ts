/**
 * A step of the work on a long stream ends with the row that reaches one of these. The appends of others wait for one step at
 * most.
 */
export const stepLimits = { rows: 250, characters: 500_000 };
