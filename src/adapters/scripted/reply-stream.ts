import { setImmediate as nextLoop, setTimeout as wait } from 'node:timers/promises';

/** Pieces between two yields to the event loop, so that a long reply does not block the process. */
const PIECES_PER_LOOP = 16;

/** Cuts a text so that the pieces add up to it exactly: at its words, or into a given number of equal parts. */
export function cutIntoPieces(text: string, count?: number): string[] {
  if (count === undefined) return text.match(/\s*\S+|\s+$/g) ?? [];
  // By characters, not code units: half an emoji is not valid text.
  const characters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  const pieces: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = Math.floor((index * characters.length) / count);
    const end = Math.floor(((index + 1) * characters.length) / count);
    const piece = characters.slice(start, end);
    if (end > start) pieces.push(typeof piece === 'string' ? piece : piece.join(''));
  }
  return pieces;
}

/** Rejects at once when the signal aborts; no timer is left behind. */
export async function streamPieces(
  pieces: readonly string[],
  delayMs: number,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  // A reply, even without text, must not come before the caller has the promise.
  await nextLoop();
  for (const [index, piece] of pieces.entries()) {
    if (delayMs > 0) await wait(delayMs, undefined, { signal });
    else if (index > 0 && index % PIECES_PER_LOOP === 0) await nextLoop();
    signal.throwIfAborted();
    onText(piece);
  }
  signal.throwIfAborted();
}
