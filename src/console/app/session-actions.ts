import { draftKey, drafts } from '../chat/drafts.ts';
import type { Account } from '../service/account.ts';
import { patch, post, remove } from '../service/api.ts';
import { randomId } from '../service/hub/random-id.ts';
import { imageOf } from '../service/image-of.ts';
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

interface EditedMessage {
  readonly sessionId: string;
  /** The seq of the message that was edited. */
  readonly firstSeq: number;
  readonly text: string;
  readonly hasImage: boolean;
  /** Whoever is signed in. */
  readonly account: Account | null;
}

/** Sends the edited message in a fork that has everything before the original one, and opens the fork. */
export async function forkWith({
  sessionId,
  firstSeq,
  text,
  hasImage,
  account,
}: EditedMessage): Promise<void> {
  const at = firstSeq - 1;
  const image = hasImage ? await imageOf(sessionId, firstSeq) : null;
  // A session without events cannot be forked, and need not be.
  const to =
    at === 0
      ? randomId().slice(0, 8)
      : (await post<{ sessionId: string }>(`${sessionPath(sessionId)}/fork`, { at })).sessionId;
  // The request that takes an image waits for the whole reply. The message box of the fork learns of a refusal at once.
  if (image) drafts.sendWhenOpen(draftKey(account, to), text, image);
  else await post('/api/message', { message: text, sessionId: to });
  go({ panel: 'chat', sessionId: to });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await remove(sessionPath(sessionId));
}

/** @param title empty: the title is made of the first message again. */
export async function renameSession(sessionId: string, title: string): Promise<void> {
  await patch(sessionPath(sessionId), { title });
}
