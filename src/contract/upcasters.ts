/**
 * Makes the JSON of an event of one version into that of the next. One event stays one event: clients hold its seq.
 * What it is given was checked by nobody; what comes out in the end is parsed by the schemas of today.
 */
export type Upcaster = (event: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/**
 * The first one leads from version 1 to version 2, and so on. A change of the events' schemas that cannot read what
 * was stored before adds one here, and with it a version; a new type or an optional field needs none.
 */
export const upcasters: readonly Upcaster[] = [];
