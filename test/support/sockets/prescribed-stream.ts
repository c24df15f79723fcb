import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { byTurn, type PrescribedTurn, prescribedPieces, prescribedTexts } from '../models/prescribed-turn.ts';
import type { StreamedPiece } from './stream-record.ts';

/**
 * What is wrong with the text that a client was streamed, given what the script says to each message: a piece that is
 * not in that place of the text, or that begins or ends within a piece of the model.
 */
export function pieceFaults(
  pieces: readonly StreamedPiece[],
  log: readonly ResumableFrame[],
  prescribe: (message: string) => PrescribedTurn,
): string[] {
  const texts = prescribedByTurn(log, prescribe);
  return pieces.flatMap(({ turnId, step, offset, content }) => {
    const { text, seams } = texts.get(turnId)?.[step - 1] ?? { text: '', seams: new Set<number>() };
    const end = offset + content.length;
    const isIts = text.slice(offset, end) === content && seams.has(offset) && seams.has(end);
    return isIts ? [] : [`"${content}" at ${offset} of step ${step}, which is "${text}"`];
  });
}

function prescribedByTurn(
  log: readonly ResumableFrame[],
  prescribe: (message: string) => PrescribedTurn,
): Map<string, { text: string; seams: Set<number> }[]> {
  const texts = new Map<string, { text: string; seams: Set<number> }[]>();
  for (const [turnId, frames] of byTurn(log)) {
    const steps = prescribedTexts(frames, prescribe(messageOf(frames)));
    texts.set(
      turnId,
      steps.map((text) => ({ text, seams: seamsOf(text) })),
    );
  }
  return texts;
}

/** Where the model's pieces begin and end. */
function seamsOf(text: string): Set<number> {
  const seams = new Set([0]);
  let end = 0;
  for (const piece of prescribedPieces(text)) {
    end += piece.length;
    seams.add(end);
  }
  return seams;
}

export function messageOf(frames: readonly ResumableFrame[]): string {
  const [first] = frames;
  if (first?.event !== 'message') throw new Error(`a turn begins with ${first?.event}`);
  return first.data.content;
}
