import { post, remove } from '../service/api.ts';
import { go } from './location.ts';

/** Makes a session that shares the past up to that event (all of it, when left out), and opens it. */
export async function forkSession(sessionId: string, at?: number): Promise<void> {
  const path = `/api/sessions/${encodeURIComponent(sessionId)}/fork`;
  const forked = await post<{ sessionId: string }>(path, at === undefined ? {} : { at });
  go({ panel: 'chat', sessionId: forked.sessionId });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await remove(`/api/sessions/${encodeURIComponent(sessionId)}`);
}
