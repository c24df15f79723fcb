import { isSession } from '../../core/log/streams.ts';
import { evolveTitle, NO_TITLE, shownTitle } from '../../core/session/session-title.ts';
import type { EventStore, SessionSummary } from '../../ports/event-store.ts';

const READ_AT_ONCE = 50;

/**
 * Gives each session without a title one that is derived from its first event. Only logs of earlier releases
 * have such sessions. A session that cannot be read stays without a title: it is reported when it is loaded.
 */
export async function withTitles(
  store: Pick<EventStore, 'read'>,
  streams: readonly SessionSummary[],
): Promise<SessionSummary[]> {
  const titled = [...streams];
  const missing = [...streams.entries()].filter(
    ([, { sessionId, title }]) => title === undefined && isSession(sessionId),
  );
  for (let next = 0; next < missing.length; next += READ_AT_ONCE) {
    await Promise.allSettled(
      missing.slice(next, next + READ_AT_ONCE).map(async ([index, stream]) => {
        const [first] = await store.read(stream.sessionId, 0, 1);
        const title =
          first?.event.type === 'turn.requested' ? shownTitle(evolveTitle(NO_TITLE, first.event)) : null;
        if (title !== null) titled[index] = { ...stream, title };
      }),
    );
  }
  return titled;
}
