import { toolCallUpcasters } from '../tool-call/tool-call-events.ts';
import { turnUpcasters } from '../turn/turn-events.ts';
import type { LoggedEvent } from './events.ts';
import type { Upcaster } from './upcaster.ts';

export type Upcasters = Readonly<Partial<Record<LoggedEvent['type'], readonly Upcaster[]>>>;

/**
 * By type: the first leads from version 1 to version 2, and so on. A change of a type's schema that cannot read older
 * events adds an upcaster beside the schema, and with it a version. A new type or an optional field needs none.
 */
export const upcasters: Upcasters = { ...turnUpcasters, ...toolCallUpcasters };
