import { post, remove } from '../service/api.ts';
import { sessionPath } from '../service/paths.ts';
import { go } from './location.ts';

/** Makes a session that shares the past up to that event (all of it, when left out), and opens it. */
export async function forkSession(sessionId: string, at?: number): Promise<void> {
  const forked = await post<{ sessionId: string }>(
    `${sessionPath(sessionId)}/fork`,
    at === undefined ? {} : { at },
  );
  go({ panel: 'chat', sessionId: forked.sessionId });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await remove(sessionPath(sessionId));
}
