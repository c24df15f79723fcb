import { patch, post, remove } from '../service/api.ts';
import { sessionPath } from '../service/paths.ts';
import { go } from './location.ts';

/** Forks the session after event `at` (default: its last event) and opens the fork. */
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

/** @param title empty: the title is made of the first message again. */
export async function renameSession(sessionId: string, title: string): Promise<void> {
  await patch(sessionPath(sessionId), { title });
}
