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
  /** Of the message that was edited. */
  readonly firstSeq: number;
  readonly text: string;
  readonly hasImage: boolean;
  /** The fork is open already when its message is refused. */
  readonly onRefused: (error: unknown) => void;
}

/** Sends the edited message in a fork that has everything before the original one, and opens the fork. */
export async function forkWith({
  sessionId,
  firstSeq,
  text,
  hasImage,
  onRefused,
}: EditedMessage): Promise<void> {
  const at = firstSeq - 1;
  const image = hasImage ? await imageOf(sessionId, firstSeq) : null;
  // A session without events cannot be forked, and need not be.
  const to =
    at === 0
      ? randomId().slice(0, 8)
      : (await post<{ sessionId: string }>(`${sessionPath(sessionId)}/fork`, { at })).sessionId;
  const message = { message: text, sessionId: to };
  // Only the request that waits for the reply takes an image.
  if (image) post('/api/message-sync', { ...message, imageData: image }).catch(onRefused);
  else await post('/api/message', message);
  go({ panel: 'chat', sessionId: to });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await remove(sessionPath(sessionId));
}

/** @param title empty: the title is made of the first message again. */
export async function renameSession(sessionId: string, title: string): Promise<void> {
  await patch(sessionPath(sessionId), { title });
}
