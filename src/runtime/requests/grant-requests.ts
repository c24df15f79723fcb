import type { SessionId } from '../../core/ids.ts';
import { requestOrigin } from '../../core/request/request-origin.ts';
import { type GrantBook, unknownSession } from '../access/grant-book.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';

/** Registers the handlers of the requests about shared sessions. */
export function answerForGrants(
  bus: LocalBus,
  grants: GrantBook,
  sessions: Pick<SessionRegistry, 'position'>,
): void {
  bus.handle('grant.create', async ({ sessionId, ...wanted }, context) => {
    await requireSession(sessionId, sessions);
    return grants.create(sessionId, wanted, requestOrigin(context));
  });
  bus.handle('grant.list', async ({ sessionId }) => {
    await requireSession(sessionId, sessions);
    return grants.list(sessionId);
  });
  bus.handle('grant.revoke', ({ sessionId, grantId }, context) =>
    grants.revoke(sessionId, grantId, requestOrigin(context)),
  );
}

async function requireSession(
  sessionId: SessionId,
  sessions: Pick<SessionRegistry, 'position'>,
): Promise<void> {
  const { head } = await sessions.position(sessionId);
  if (head === 0) throw unknownSession(sessionId);
}
