import type { SessionId } from '../../../core/ids.ts';
import type { EventCodec } from '../../../core/log/event-codec.ts';
import { type AdoptedEvent, type SessionMark, StaleVersionError } from '../../../ports/event-store.ts';
import { stepLimits } from './step-limits.ts';
import type { Adopted, Answer, Call, StageCall } from './worker-protocol.ts';

interface Thread {
  readonly call: (call: Call) => Promise<Answer>;
  readonly codec: EventCodec;
}

/**
 * Sends the events of a new session to the thread, part by part. The session is stored as a whole or not at all.
 *
 * @returns the seq of its last event.
 */
export async function adoptEvents(
  thread: Thread,
  sessionId: SessionId,
  events: AsyncIterable<AdoptedEvent>,
): Promise<number> {
  const begun = await thread.call({ type: 'begin-adoption', sessionId });
  if (begun.type !== 'adoption-begun') throw new Error(`an adoption was answered with ${begun.type}`);
  try {
    requireNew(sessionId, begun.actual);
    const { head, actual } = await stageAndAdopt(thread, begun.adoption, events);
    requireNew(sessionId, actual);
    return head;
  } finally {
    // A failure here does not change the outcome. Staged events disappear with the thread at the latest.
    await Promise.allSettled([thread.call({ type: 'end-adoption', adoption: begun.adoption })]);
  }
}

async function stageAndAdopt(
  { call, codec }: Thread,
  adoption: number,
  events: AsyncIterable<AdoptedEvent>,
): Promise<Adopted> {
  let part = new Part();
  let mark: SessionMark = { open: false };
  for await (const { time, event, meta = null, mark: after } of events) {
    part.add(time, event.type, codec.encode({ event, meta }));
    mark = after;
    if (!part.isFull) continue;
    await call(part.stageCall(adoption));
    part = new Part();
  }
  await call(part.stageCall(adoption));
  const answer = await call({ type: 'adopt', adoption, open: mark.open, title: mark.title });
  if (answer.type !== 'adopted') throw new Error(`an adoption was answered with ${answer.type}`);
  return answer;
}

class Part {
  readonly #times: number[] = [];
  readonly #types: string[] = [];
  readonly #data: string[] = [];
  #characters = 0;

  add(time: number, type: string, json: string): void {
    this.#times.push(time);
    this.#types.push(type);
    this.#data.push(json);
    this.#characters += json.length;
  }

  get isFull(): boolean {
    return this.#data.length >= stepLimits.rows || this.#characters >= stepLimits.characters;
  }

  stageCall(adoption: number): StageCall {
    return { type: 'stage', adoption, times: this.#times, types: this.#types, data: this.#data };
  }
}

function requireNew(sessionId: SessionId, actual: number): void {
  if (actual > 0) throw new StaleVersionError(sessionId, 0, actual);
}
