import type { ErrorBody } from '../errors.ts';
import type { SessionEvent } from '../log/events.ts';
import { type Refused, refusedThings } from './refused.ts';
import { tokenSums } from './token-sums.ts';
import { beginOfTurn, leaveOut, leaveOutImages, type Transcript } from './transcript.ts';

/*
 * If a provider refuses a request because of something in the conversation, it would refuse all later requests, too.
 * So parts of the conversation are left out, more after each refusal, until a request is accepted:
 *
 *   1st refusal in a row   the refused turn, and unanswered messages before it (if an image was refused: only images;
 *                          if the conversation was too long, and the turn is the smaller part of it: nothing of the turn)
 *   2nd                    also all images, and the opaque data of earlier turns
 *   3rd                    everything but the newest message
 *   4th                    as after the 1st: the newest message alone was refused, so the rest is not to blame
 *
 * When a turn is answered, what it went without stays left out. The log keeps everything.
 */

/** The refusals in a session, folded. */
export interface Refusals {
  /** Number of turns that were refused in a row. */
  readonly inARow: number;
  /** Most tokens of the conversation to show to the model; null if only the setting of the agent file counts. */
  readonly maxTokens: number | null;
}

export const NO_REFUSALS: Refusals = { inARow: 0, maxTokens: null };

/** How much a request leaves out, from nothing to everything but the newest message. */
export type Caution = 'none' | 'refused-turns' | 'bare' | 'newest-alone';

/** How much the next request leaves out. */
export function cautionAfter({ inARow }: Refusals): Caution {
  if (inARow === 0) return 'none';
  return (['refused-turns', 'bare', 'newest-alone'] as const)[(inARow - 1) % 3] ?? 'none';
}

/** What was said, and what was refused of it. */
export interface Told {
  readonly transcript: Transcript;
  readonly refusals: Refusals;
}

/** Folds one event in. Marks the messages of the transcript that the model is no longer shown. */
export function evolveRefusals(told: Told, event: SessionEvent): Told {
  const { transcript, refusals } = told;
  switch (event.type) {
    case 'turn.failed': {
      const refused = refusedIn(event.error);
      return refused === undefined ? told : afterRefusal(told, refused, event.error);
    }
    // An accepted step does not end the row, because a later step of each turn may be refused.
    case 'turn.completed':
      if (refusals.inARow === 0) return told;
      return {
        transcript: leftOutForGood(cautionAfter(refusals), transcript),
        refusals: { ...refusals, inARow: 0 },
      };
    case 'session.reset':
      return { transcript, refusals: NO_REFUSALS };
    default:
      return told;
  }
}

export function refusedIn({ details }: Pick<ErrorBody, 'details'>): Refused | undefined {
  return refusedThings.find((thing) => thing === details.refused);
}

function afterRefusal(
  { transcript, refusals }: Told,
  refused: Refused,
  { details: { shownTokens } }: ErrorBody,
): Told {
  const tooMany = refused === 'context' && typeof shownTokens === 'number' ? shownTokens : undefined;
  return {
    transcript: withoutRefused({ transcript, refusals }, refused, tooMany),
    refusals: {
      inARow: refusals.inARow + 1,
      maxTokens: tooMany === undefined ? refusals.maxTokens : fewerThan(tooMany, refusals.maxTokens),
    },
  };
}

function withoutRefused(
  { transcript, refusals }: Told,
  refused: Refused,
  tooMany: number | undefined,
): Transcript {
  const caution = cautionAfter(refusals);
  if (refused === 'image' && showsImage(transcript, caution)) return leaveOutImages(transcript);
  const begin = beginOfRefused(transcript, caution);
  // Half as many tokens are enough for it then. What its tools have done must not be done again.
  const fits = tooMany !== undefined && tokensFrom(transcript, begin) < tooMany / 2;
  return caution === 'none' && fits ? transcript : leaveOut(transcript, begin, transcript.length);
}

function tokensFrom(transcript: Transcript, begin: number): number {
  const sums = tokenSums(transcript);
  return (sums[transcript.length] ?? 0) - (sums[begin] ?? 0);
}

/** Unanswered messages are joined with the next message, so nobody can tell which of them was refused. */
function beginOfRefused(transcript: Transcript, caution: Caution): number {
  let begin = beginOfTurn(transcript);
  const hasAnswer = transcript.slice(begin + 1).some(({ role }) => role !== 'user');
  if (hasAnswer || caution === 'newest-alone') return begin;
  for (let index = begin - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message?.leftOut) continue;
    if (message?.role !== 'user') break;
    begin = index;
  }
  return begin;
}

/** Half of what was too much, but not more than before: a huge message does not disprove a lower limit. */
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

function leftOutForGood(caution: Caution, transcript: Transcript): Transcript {
  switch (caution) {
    case 'none':
    case 'refused-turns':
      return transcript;
    case 'bare':
      return bare(transcript);
    case 'newest-alone':
      return bare(leaveOut(transcript, 0, beginOfTurn(transcript)));
    default:
      return caution satisfies never;
  }
}

/** Leaves out all images. Removes the source of earlier replies, because opaque data without a source are not sent. */
function bare(transcript: Transcript): Transcript {
  const end = beginOfTurn(transcript);
  return leaveOutImages(transcript).map((message, index) => {
    if (index >= end || message.role !== 'assistant' || !message.source) return message;
    const { source, ...rest } = message;
    return rest;
  });
}
