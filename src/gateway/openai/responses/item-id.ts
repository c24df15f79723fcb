import { SessionId } from '../../../core/ids.ts';

/** No id of a session has it. */
const BEFORE_SESSION = '~';

/** The id of an item also says in which session the item is, so that a client can refer to it by its id alone. */
export function itemId(kind: 'msg' | 'rs' | 'mcp' | 'in', name: string, sessionId: SessionId): string {
  return `${kind}_${name}${BEFORE_SESSION}${sessionId}`;
}

/** Null if the service did not make the id. */
export function sessionOfItem(id: string): SessionId | null {
  const at = id.lastIndexOf(BEFORE_SESSION);
  return at === -1 ? null : (SessionId.safeParse(id.slice(at + 1)).data ?? null);
}
