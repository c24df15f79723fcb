import { expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';

/**
 * One turn as the test's script has it. What a service tells is held to this, and not to other things that the same
 * service tells: it could have lost or garbled them alike.
 */
export interface PrescribedTurn {
  readonly message: string;
  /** What the first model call says. */
  readonly reply: string;
  readonly calls?: readonly PrescribedCall[];
  /** What the second model call says, once it was shown these results, in the order of the calls. */
  readonly afterTools?: (results: readonly string[]) => string;
}

export interface PrescribedCall {
  readonly toolName: string;
  readonly arguments: object;
  /** What the tool answers. */
  readonly text: string;
  readonly structuredContent?: object;
  /** Whether a kill may leave the call without an answer, because it is not safe to repeat. */
  readonly mayBeInterrupted?: boolean;
  /** Whether somebody may deny the call, or the turn may end before the call was approved. */
  readonly mayBeUnapproved?: boolean;
}
/** How a call ends that was not approved. */
const UNAPPROVED = /^it was denied| before the call was approved$/;

type Frames = readonly ResumableFrame[];
/** Events that a script does not have. */
const UNPRESCRIBED: ReadonlySet<string> = new Set(['turnResumed', 'toolApproval', 'toolApproved']);
type Outcome = { readonly result: object } | { readonly error: string };

const SEPARATOR = '\n\n';
const INTERRUPTIONS =
  /^(the service stopped while it ran|the turn was cancelled|the conversation was reset|this session was forked from \S+)$/;

/** Throws unless the durable events of one turn are those of the script: each once, in order, with its whole text. */
export function checkTurn(frames: Frames, turn: PrescribedTurn): void {
  const about = `the turn of "${turn.message}"`;
  const ids = callIds(frames);
  const told = resultsInOrder(frames, ids)
    .filter(({ event }) => !UNPRESCRIBED.has(event))
    .map((frame) => essence(frame, ids));
  const whole = wholeTurn(turn, outcomes(frames, turn));
  if (!isCancelled(frames)) {
    expect(told, about).toEqual(whole);
    return;
  }
  expect(told.length, about).toBeLessThanOrEqual(whole.length);
  expect(told, about).toEqual([...whole.slice(0, told.length - 1), { error: 'TURN_CANCELLED' }]);
}

/** What each model call of the turn streams. @param frames of the turn, for what became of its tool calls. */
export function prescribedTexts(frames: Frames, turn: PrescribedTurn): string[] {
  const shown = outcomes(frames, turn).map((outcome, index) => shownText(outcome, turn, index));
  return turn.afterTools ? [turn.reply, SEPARATOR + turn.afterTools(shown)] : [turn.reply];
}

/** What a client that is never behind hears of such a text, piece by piece. */
export function prescribedPieces(text: string): string[] {
  const separator = text.startsWith(SEPARATOR) ? [SEPARATOR] : [];
  return [...separator, ...(text.slice(separator.join('').length).match(/\s*\S+|\s+$/g) ?? [])];
}

export const isCancelled = (frames: Frames): boolean => {
  const last = frames.at(-1);
  return last?.event === 'error' && last.data.code === 'TURN_CANCELLED';
};

/** The events of a log by their turns. */
export function byTurn(log: Frames): Map<string, ResumableFrame[]> {
  const turns = new Map<string, ResumableFrame[]>();
  for (const frame of log) {
    if (frame.turnId === undefined) continue;
    const frames = turns.get(frame.turnId);
    if (frames) frames.push(frame);
    else turns.set(frame.turnId, [frame]);
  }
  return turns;
}

function callIds(frames: Frames): string[] {
  return frames.flatMap((frame) => (frame.event === 'toolCall' ? [frame.data.callId] : []));
}

/** Calls run side by side, so their results come in any order; here they come in that of the calls. */
function resultsInOrder(frames: Frames, ids: readonly string[]): Frames {
  const place = (frame: ResumableFrame): number =>
    frame.event === 'toolResult' ? ids.indexOf(frame.data.callId) : -1;
  const results = frames.filter(({ event }) => event === 'toolResult');
  const sorted = results.toSorted((a, b) => place(a) - place(b)).values();
  return frames.map((frame) => (frame.event === 'toolResult' ? (sorted.next().value ?? frame) : frame));
}

/** What a frame says as far as the script knows it: a call has a number there, and no id. */
function essence(frame: ResumableFrame, ids: readonly string[]): unknown {
  switch (frame.event) {
    case 'message':
      return { message: frame.data.content };
    case 'thinking':
      return 'thinking';
    case 'stepCompleted': {
      const { step, content, callIds: asked } = frame.data;
      return { step, content, calls: asked.length };
    }
    case 'toolCall': {
      const { callId, toolName, arguments: args } = frame.data;
      return { call: ids.indexOf(callId), toolName, arguments: args };
    }
    case 'toolResult': {
      const { callId, toolName, serverId, ...outcome } = frame.data;
      return { call: ids.indexOf(callId), toolName, ...outcome };
    }
    case 'response':
      return { response: frame.data.content };
    case 'error':
      return { error: frame.data.code };
    default:
      return frame;
  }
}

function wholeTurn(turn: PrescribedTurn, outcomesOfCalls: readonly Outcome[]): unknown[] {
  const { message, reply, calls = [], afterTools } = turn;
  const begin = [{ message }, 'thinking', { step: 1, content: reply, calls: calls.length }];
  if (!afterTools) return [...begin, { response: reply }];
  const shown = outcomesOfCalls.map((outcome, index) => shownText(outcome, turn, index));
  const content = SEPARATOR + afterTools(shown);
  return [
    ...begin,
    ...calls.map(({ toolName, arguments: args }, call) => ({ call, toolName, arguments: args })),
    ...outcomesOfCalls.map((outcome, call) => ({ call, toolName: calls[call]?.toolName, ...outcome })),
    { step: 2, content, calls: 0 },
    { response: reply + content },
  ];
}

/** What the script has each tool answer, or the interruption where there may be one. */
function outcomes(frames: Frames, { calls = [] }: PrescribedTurn): Outcome[] {
  const ids = callIds(frames);
  return calls.map(
    ({ text, structuredContent, mayBeInterrupted = false, mayBeUnapproved = false }, call): Outcome => {
      const told = frames.find((frame) => frame.event === 'toolResult' && frame.data.callId === ids[call]);
      const error = told?.event === 'toolResult' ? (told.data.error ?? '') : '';
      const isAllowed = mayBeInterrupted || isCancelled(frames);
      if (isAllowed && INTERRUPTIONS.test(error)) return { error };
      if (mayBeUnapproved && UNAPPROVED.test(error)) return { error };
      return {
        result: { content: [{ type: 'text', text }], ...(structuredContent && { structuredContent }) },
      };
    },
  );
}

/** What the model is shown of a result. */
function shownText(outcome: Outcome, { calls = [] }: PrescribedTurn, call: number): string {
  if (!('error' in outcome)) return calls[call]?.text ?? '';
  return UNAPPROVED.test(outcome.error)
    ? `The tool failed: ${outcome.error}`
    : `The call was interrupted (${outcome.error}). It may or may not have taken effect.`;
}
