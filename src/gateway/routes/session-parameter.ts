import { z } from 'zod';
import { SessionId } from '../../core/ids.ts';
import type { Parameters } from '../http/router.ts';
import { parseFields } from '../requests/request-fields.ts';

const SessionParameter = z.object({ sessionId: SessionId });

/** The session that a path names. Throws `INVALID_REQUEST` if it is no valid id. */
export function sessionOf({ sessionId }: Parameters): SessionId {
  return parseFields(SessionParameter, { sessionId }).sessionId;
}
