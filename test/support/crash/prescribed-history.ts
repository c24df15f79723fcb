import { expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { byTurn, isCancelled, prescribedPieces, prescribedTexts } from '../models/prescribed-turn.ts';
import type { View } from '../sessions/session-api.ts';
import { messageOf } from '../sockets/prescribed-stream.ts';
import { prescribedWork } from './workload-script.ts';

type Frames = readonly ResumableFrame[];
type Entry = View['history'][number];

/**
 * Throws unless the conversation that the model will be shown is that of the script, from the last reset on. The log
 * must be checked before: it says which turns there were and how far they came.
 */
export function checkHistory(history: readonly Entry[], log: Frames): void {
  const begin = log.findLastIndex(({ event }) => event === 'reset') + 1;
  const turns = byTurn(log);
  const begun = log.slice(begin).filter(({ event }) => event === 'thinking');
  const told = byMessage(history);
  expect(told).toHaveLength(begun.length);
  for (const [index, { turnId = '' }] of begun.entries())
    checkEntries(told[index] ?? [], turns.get(turnId) ?? []);
}

/** Each begins with what the user said. */
function byMessage(history: readonly Entry[]): Entry[][] {
  const turns: Entry[][] = [];
  for (const entry of history) {
    if (entry.role === 'user') turns.push([entry]);
    else turns.at(-1)?.push(entry);
  }
  return turns;
}

function checkEntries(entries: readonly Entry[], frames: Frames): void {
  const message = messageOf(frames);
  const texts = prescribedTexts(frames, prescribedWork(message)).map((text) => text.trimStart());
  const completed = frames.filter(({ event }) => event === 'stepCompleted').length;
  const [first, second] = texts.slice(0, completed);
  const whole = [message, ...(first === undefined ? [] : [first, ...resultTexts(frames)])];
  if (second !== undefined) whole.push(second);
  const isCut = (entry: Entry): boolean => entry.role === 'assistant' && entry.cut === 'cancelled';
  expect(entries.filter((entry) => !isCut(entry)).map(({ content }) => content)).toEqual(whole);
  const cut = entries.filter(isCut);
  expect(cut.length).toBeLessThanOrEqual(isCancelled(frames) ? 1 : 0);
  for (const entry of cut) {
    expect(entries.at(-1)).toBe(entry);
    expect(beginningsOf(texts[completed] ?? '')).toContain(entry.content);
  }
}

/** As the model is shown them. */
function resultTexts(frames: Frames): string[] {
  const { calls = [] } = prescribedWork(messageOf(frames));
  return frames.flatMap((frame) => {
    if (frame.event !== 'toolResult') return [];
    const call = calls.find(({ toolName }) => toolName === frame.data.toolName);
    return frame.data.error !== undefined
      ? [`The call was interrupted (${frame.data.error}). It may or may not have taken effect.`]
      : [call?.text ?? ''];
  });
}

/** All that may have been streamed of a text when it was cut. */
function beginningsOf(text: string): string[] {
  let beginning = '';
  return prescribedPieces(text).map((piece) => {
    beginning += piece;
    return beginning;
  });
}
