import type { ErrorBody } from '../errors.ts';
import type { SessionEvent } from '../log/events.ts';
import { type Refused, refusedThings } from './refused.ts';
import { beginOfTurn, leaveOut, leaveOutImages, type Transcript } from './transcript.ts';

/*
 * A provider refuses a request for what the conversation holds, and would refuse every later one for the same reason.
 * So what was refused is left out from then on, step by step more, until a request is accepted:
 *
 *   1st refusal in a row   the refused turn, and what was said before it without an answer (of an image: only images)
 *   2nd                    all images as well, and the opaque data of earlier turns
 *   3rd                    all but the newest message
 *   4th                    as after the first: the newest message alone was refused, so the rest is not to blame
 *
 * What the turn that was answered went without stays left out. The log keeps everything.
 */

/** What the refusals of a session have come to. */
export interface Refusals {
  /** Turns in a row that were refused. */
  readonly inARow: number;
  /** Most tokens of the conversation that the model is shown; null while the agent's setting decides. */
  readonly maxTokens: number | null;
}

export const NO_REFUSALS: Refusals = { inARow: 0, maxTokens: null };

export type Caution = 'none' | 'refused-turns' | 'bare' | 'newest-alone';

/** What the next request goes without. */
export function cautionAfter({ inARow }: Refusals): Caution {
  if (inARow === 0) return 'none';
  return (['refused-turns', 'bare', 'newest-alone'] as const)[(inARow - 1) % 3] ?? 'none';
}

/** Folds one event in, and marks in the transcript, in place, what is to be left out. */
export function evolveRefusals(refusals: Refusals, transcript: Transcript, event: SessionEvent): Refusals {
  switch (event.type) {
    case 'turn.failed': {
      const refused = refusedIn(event.error);
      return refused === undefined ? refusals : afterRefusal(refusals, transcript, refused, event.error);
    }
    // Not with a step that was accepted: the next one of its turn may be refused, again and again.
    case 'turn.completed':
      if (refusals.inARow === 0) return refusals;
      leaveOutForGood(cautionAfter(refusals), transcript);
      return { ...refusals, inARow: 0 };
    case 'session.reset':
      return NO_REFUSALS;
    default:
      return refusals;
  }
}

export function refusedIn({ details }: Pick<ErrorBody, 'details'>): Refused | undefined {
  return refusedThings.find((thing) => thing === details.refused);
}

function afterRefusal(
  refusals: Refusals,
  transcript: Transcript,
  refused: Refused,
  { details: { shownTokens } }: ErrorBody,
): Refusals {
  const caution = cautionAfter(refusals);
  if (refused === 'image' && showsImage(transcript, caution)) leaveOutImages(transcript);
  else leaveOut(transcript, beginOfRefused(transcript, caution), transcript.length);
  const tooMany = refused === 'context' && typeof shownTokens === 'number' ? shownTokens : undefined;
  return {
    inARow: refusals.inARow + 1,
    maxTokens: tooMany === undefined ? refusals.maxTokens : fewerThan(tooMany, refusals.maxTokens),
  };
}

/** What was never answered is shown as one message with what follows it, so nobody can tell which of them was refused. */
function beginOfRefused(transcript: Transcript, caution: Caution): number {
  let begin = beginOfTurn(transcript);
  const hasAnswer = begin < transcript.length - 1;
  if (hasAnswer || caution === 'newest-alone') return begin;
  for (let index = begin - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message?.leftOut) continue;
    if (message?.role !== 'user') break;
    begin = index;
  }
  return begin;
}

/** Half as many. A huge message says nothing against a limit that was found before. */
function fewerThan(tooMany: number, known: number | null): number {
  const half = Math.max(1, Math.floor(tooMany / 2));
  return known === null ? half : Math.min(known, half);
}

function showsImage(transcript: Transcript, caution: Caution): boolean {
  if (caution === 'bare' || caution === 'newest-alone') return false;
  return transcript.some(
    (message) => message.role === 'user' && message.images && !message.imagesLeftOut && !message.leftOut,
  );
}

function leaveOutForGood(caution: Caution, transcript: Transcript): void {
  switch (caution) {
    case 'none':
    case 'refused-turns':
      return;
    case 'bare':
      makeBare(transcript);
      return;
    case 'newest-alone':
      leaveOut(transcript, 0, beginOfTurn(transcript));
      makeBare(transcript);
      return;
    default:
      caution satisfies never;
  }
}

/** Without images, and without what the opaque data of earlier turns need to be sent back. */
function makeBare(transcript: Transcript): void {
  leaveOutImages(transcript);
  const end = beginOfTurn(transcript);
  for (const [index, message] of transcript.slice(0, end).entries()) {
    if (message.role !== 'assistant' || !message.source) continue;
    const { source, ...bare } = message;
    transcript[index] = bare;
  }
}
