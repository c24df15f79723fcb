import { toolCallUpcasters } from '../tool-call/tool-call-events.ts';
import { turnUpcasters } from '../turn/turn-events.ts';
import type { LoggedEvent } from './events.ts';
import type { Upcaster } from './upcaster.ts';

export type Upcasters = Readonly<Partial<Record<LoggedEvent['type'], readonly Upcaster[]>>>;

/**
 * The upcasters of each event type: the first leads from version 1 to version 2, and so on. If a changed schema cannot
 * read the older events of its type, add an upcaster beside the schema; that makes a new version of the type. A new
 * type, or a new optional field, needs none.
 */
export const upcasters: Upcasters = { ...turnUpcasters, ...toolCallUpcasters };
