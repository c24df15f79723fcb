import { ResumableFrame } from '../../../src/wire/frames.ts';
import { eventually } from '../project/eventually.ts';

/** A WebSocket with `?after=`, by hand: nothing of the project's client. */
export class ResumingSocket implements Disposable {
  readonly #socket: WebSocket;
  /** Every frame so far, each checked against the contract. */
  readonly frames: ResumableFrame[] = [];
  closedWith: number | undefined;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.addEventListener('message', ({ data }) => {
      this.frames.push(ResumableFrame.parse(JSON.parse(String(data))));
    });
    this.#socket.addEventListener('close', ({ code }) => {
      this.closedWith = code;
    });
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  async until(done: (frames: readonly ResumableFrame[]) => boolean): Promise<readonly ResumableFrame[]> {
    await eventually(
      async () => this.frames,
      (frames) => {
        if (!done(frames) && this.closedWith !== undefined) throw new Error(`closed: ${this.closedWith}`);
        return done(frames);
      },
    );
    return this.frames;
  }

  /** Resolves when so many turns have ended. */
  settled(count = 1): Promise<readonly ResumableFrame[]> {
    return this.until((frames) => frames.filter(endsTurn).length >= count);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

export const endsTurn = ({ event, seq }: ResumableFrame): boolean =>
  seq !== undefined && (event === 'response' || event === 'error');
