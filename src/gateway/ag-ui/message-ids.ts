import { z } from 'zod';
import type { Image } from '../../core/conversation/image.ts';
import type { CallId, TurnId } from '../../core/ids.ts';
import type { SessionEventOf } from '../../core/log/events.ts';

/*
 * The ids of messages follow from the log, so that a client gets the same ones whenever it reads a thread.
 */

/** What a turn remembers of the run that began it. */
export const RunNote = z.object({
  runId: z.string(),
  /** The ids that the client gave to the messages before its newest one, and to that one. */
  messageIds: z.array(z.string()),
});
export type RunNote = z.infer<typeof RunNote>;

const Note = z.object({ agUi: RunNote });

/** Undefined if no run began the turn. */
export function noteOf({ options }: SessionEventOf<'turn.requested'>): RunNote | undefined {
  return Note.safeParse(options?.note).data?.agUi;
}

/** The ids of the messages that a turn brings: those that were given, and the newest one. */
export function broughtIds(requested: SessionEventOf<'turn.requested'>): readonly string[] {
  const { turnId, given = [] } = requested;
  const noted = noteOf(requested)?.messageIds ?? [];
  return Array.from({ length: given.length + 1 }, (_, index) => noted[index] ?? `${turnId}-in-${index}`);
}

/** The id of the images of a message that a turn gets before it. */
export function imagesId(messageId: string): string {
  return `${messageId}-images`;
}

/** The images that a turn got in a message of their own, right before the newest message, which they belong to. */
export function imagesBefore(requested: SessionEventOf<'turn.requested'>): readonly Image[] {
  const ids = broughtIds(requested);
  if (ids.at(-2) !== imagesId(ids.at(-1) ?? '')) return [];
  const before = requested.given?.at(-1);
  return (before?.role === 'user' && before.images) || [];
}

/** The ids of messages that were added to the conversation without a turn. @param seq of the event. */
export function addedIds({ given }: SessionEventOf<'session.extended'>, seq: number): readonly string[] {
  return given.map((_, index) => `added-${seq}-${index}`);
}

/** The id of what the model says in a step. An attempt that is not the first one says something else. */
export function stepMessageId(turnId: TurnId, step: number, attempt: number): string {
  return attempt === 1 ? `${turnId}-${step}` : `${turnId}-${step}-${attempt}`;
}

/** Whether it is the id of something that the turn says or gets, and not of what it was asked. */
export function isMessageOf(turnId: TurnId, id: string): boolean {
  return id.startsWith(`${turnId}-`);
}

export function resultMessageId(turnId: TurnId, callId: CallId): string {
  return `${turnId}-result-${callId}`;
}

/** @param index of this reasoning among that of the step. */
export function reasoningMessageId(stepMessage: string, index: number): string {
  return `${stepMessage}-reasoning-${index}`;
}
