import type { ReplyChunk, ReplyReasoning, SessionSignal } from '../../core/session/session-signal.ts';

/** Chunks that follow each other in the text of one step, in the order of their contents. */
interface ChunkRun extends Omit<ReplyChunk, 'type' | 'content'> {
  readonly type: 'chunks';
  readonly contents: string[];
}

/** Encodes the signals of a session in a turn of the event loop. A run of chunks takes little more than its contents. */
export class SignalBatch {
  readonly #signals: (SessionSignal | ChunkRun)[] = [];
  /** The run that goes on, and where the text of the step continues. */
  #run: ChunkRun | null = null;
  #end = 0;
  #hasPieces = false;

  get hasPieces(): boolean {
    return this.#hasPieces;
  }

  add(signal: SessionSignal): void {
    this.#hasPieces ||= isPiece(signal);
    if ('event' in signal || signal.type !== 'reply.chunk') {
      this.#run = null;
      this.#signals.push(signal);
      return;
    }
    const { content, sessionId, turnId, step, offset } = signal;
    const run = this.#run;
    if (run?.turnId === turnId && run.step === step && this.#end === offset) run.contents.push(content);
    else {
      this.#run = { type: 'chunks', sessionId, turnId, step, offset, contents: [content] };
      this.#signals.push(this.#run);
    }
    this.#end = offset + content.length;
  }

  /** A JSON array. */
  encode(): string {
    return JSON.stringify(this.#signals);
  }
}

/** Whether the signal is a piece of a reply, or of reasoning. */
export function isPiece(signal: SessionSignal): signal is ReplyChunk | ReplyReasoning {
  return !('event' in signal) && signal.type !== 'session.fault';
}

/** The signals of a batch. @param batch its parsed text. */
export function signalsOf(batch: readonly unknown[]): SessionSignal[] {
  return batch.flatMap((item) => (isRun(item) ? chunksOf(item) : isSignal(item) ? item : []));
}

function chunksOf({ contents, offset: begin, ...place }: ChunkRun): ReplyChunk[] {
  let offset = begin;
  return contents.map((content) => {
    const chunk: ReplyChunk = { ...place, type: 'reply.chunk', offset, content };
    offset += content.length;
    return chunk;
  });
}

function isRun(item: unknown): item is ChunkRun {
  return typeof item === 'object' && item !== null && 'type' in item && item.type === 'chunks';
}

/** The other node has encoded signals, so nothing more is checked. */
function isSignal(item: unknown): item is SessionSignal {
  return typeof item === 'object' && item !== null && ('event' in item || 'type' in item);
}
