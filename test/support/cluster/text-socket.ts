import { z } from 'zod';
import { FramePlace, MachineFrame, ResumableFrame } from '../../../src/wire/frames.ts';
import { withinMs } from './deadline.ts';

const StreamFrame = z.union([ResumableFrame, MachineFrame.and(FramePlace)]);
type StreamFrame = z.infer<typeof StreamFrame>;

export interface ReceivedText {
  readonly text: string;
  readonly frame: StreamFrame;
  /** By the monotonic clock. */
  readonly atMs: number;
}

type IsDone = (frames: readonly StreamFrame[]) => boolean;

interface Waiter {
  readonly isDone: IsDone;
  readonly settled: PromiseWithResolvers<void>;
}

const FRAME_MS = 60_000;

/** A WebSocket by hand that keeps each frame as the characters that came. */
export class TextSocket implements Disposable {
  readonly #socket: WebSocket;
  readonly received: ReceivedText[] = [];
  /** Of all that was received: kept, because each frame asks who waits for it. */
  readonly frames: StreamFrame[] = [];
  readonly closed: Promise<number>;
  readonly #waiting = new Set<Waiter>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    const closed = Promise.withResolvers<number>();
    this.closed = closed.promise;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', ({ code }) => {
      closed.resolve(code);
      for (const { settled } of this.#waiting)
        settled.reject(
          new Error(
            `closed with ${code} after ${this.events.join(', ')}; the last one: ${this.texts.at(-1)}`,
          ),
        );
    });
  }

  static async open(url: string): Promise<TextSocket> {
    const socket = new WebSocket(url);
    const wrapped = new TextSocket(socket);
    const opening = new Promise<boolean>((resolve) => {
      socket.addEventListener('open', () => resolve(true));
      socket.addEventListener('error', () => resolve(false));
    });
    if (await withinMs(FRAME_MS, `an answer to the handshake of ${url}`, opening)) return wrapped;
    // A WebSocket does not say why it was refused. A GET of the same address does.
    const headers = { Accept: 'application/json' };
    const refusal = await fetch(url.replace('ws:', 'http:'), { headers }).then((response) => response.text());
    throw new Error(`no connection to ${url}: ${refusal}`);
  }

  get texts(): string[] {
    return this.received.map(({ text }) => text);
  }

  get events(): string[] {
    return this.frames.map(({ event }) => event);
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Resolves as soon as the frames so far are as wanted. */
  async until(what: string, isDone: IsDone, ms = FRAME_MS): Promise<StreamFrame[]> {
    if (!isDone(this.frames)) {
      const waiter = { isDone, settled: Promise.withResolvers<void>() };
      this.#waiting.add(waiter);
      try {
        await withinMs(ms, `${what}, after ${this.events.join(', ')}`, waiter.settled.promise);
      } finally {
        this.#waiting.delete(waiter);
      }
    }
    return this.frames;
  }

  /** Resolves with the first frame of this event. */
  async first(event: StreamFrame['event'], ms?: number): Promise<ReceivedText> {
    const isIt = (frame: StreamFrame): boolean => frame.event === event;
    await this.until(`a frame ${event}`, (frames) => frames.some(isIt), ms);
    const received = this.received.find(({ frame }) => isIt(frame));
    if (!received) throw new Error(`there is no frame ${event}`);
    return received;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    const frame = StreamFrame.parse(JSON.parse(text));
    this.received.push({ text, frame, atMs: performance.now() });
    this.frames.push(frame);
    for (const { isDone, settled } of this.#waiting) if (isDone(this.frames)) settled.resolve();
  }
}

const isDurable = ({ frame }: ReceivedText): boolean => frame.seq !== undefined;

/** What a node tells of a session from its beginning: the frame of each durable event, as its characters. */
export async function replayed(socketUrl: string, head: number): Promise<string[]> {
  using socket = await TextSocket.open(socketUrl);
  await socket.until(`the replay to event ${head}`, (frames) => frames.at(-1)?.seq === head || head === 0);
  return socket.received.filter(isDurable).map(({ text }) => text);
}

/** The frames of durable events. */
export const durableTexts = ({ received }: TextSocket): string[] =>
  received.filter(isDurable).map(({ text }) => text);

/**
 * The frames, with the chunks that follow each other joined: pieces of a reply that come close to each other are told as one
 * at another node.
 */
export function joinedChunks(texts: readonly string[]): string[] {
  const joined: string[] = [];
  let content = '';
  const end = (): void => {
    if (content !== '') joined.push(`chunk: ${content}`);
    content = '';
  };
  for (const text of texts) {
    const piece = chunkIn(text);
    if (piece !== null) content += piece;
    else {
      end();
      joined.push(text);
    }
  }
  end();
  return joined;
}

/** Null if the frame is none of a chunk. */
export function chunkIn(text: string): string | null {
  const frame = Chunk.safeParse(JSON.parse(text));
  return frame.success ? frame.data.data.content : null;
}

const Chunk = z.object({ event: z.literal('chunk'), data: z.object({ content: z.string() }) });
