import type { SessionId } from '../../../core/ids.ts';
import type { EventCodec } from '../../../core/log/event-codec.ts';
import { type AdoptedEvent, StaleVersionError } from '../../../ports/event-store.ts';
import type { Adopted, Answer, Call, StageCall } from './worker-protocol.ts';

/** So much is gathered before the thread is told of it. */
const most = { events: 1_000, characters: 1_000_000 };

interface Thread {
  readonly call: (call: Call) => Promise<Answer>;
  readonly codec: EventCodec;
}

/** Hands a session over to the thread, part by part. @returns the seq of its last event. */
export async function adoptEvents(
  thread: Thread,
  sessionId: SessionId,
  events: AsyncIterable<AdoptedEvent>,
): Promise<number> {
  const begun = await thread.call({ type: 'begin-adoption', sessionId });
  if (begun.type !== 'adoption-begun') throw new Error(`an adoption was answered with ${begun.type}`);
  const { adoption } = begun;
  try {
    requireNew(sessionId, begun.actual);
    const { head, actual } = await handOver(thread, adoption, events);
    requireNew(sessionId, actual);
    return head;
  } finally {
    // Changes nothing about the outcome, not even by failing: what was staged goes with the thread at the latest.
    await Promise.allSettled([thread.call({ type: 'end-adoption', adoption })]);
  }
}

async function handOver(
  { call, codec }: Thread,
  adoption: number,
  events: AsyncIterable<AdoptedEvent>,
): Promise<Adopted> {
  let part = new Part();
  let open = false;
  for await (const { time, event, meta = null, mark } of events) {
    part.add(time, event.type, codec.encode({ event, meta }));
    open = mark.open;
    if (!part.isFull) continue;
    await call(part.stageCall(adoption));
    part = new Part();
  }
  await call(part.stageCall(adoption));
  const answer = await call({ type: 'adopt', adoption, open });
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
    return this.#data.length >= most.events || this.#characters >= most.characters;
  }

  stageCall(adoption: number): StageCall {
    return { type: 'stage', adoption, times: this.#times, types: this.#types, data: this.#data };
  }
}

function requireNew(sessionId: SessionId, actual: number): void {
  if (actual > 0) throw new StaleVersionError(sessionId, 0, actual);
}
