import type { ClientSocket } from '../../ports/client-socket.ts';

/** After so many refusals in a row, the client is told no more: each costs the service more than the frame costs its sender. */
const MAX_REFUSED = 1_000;
/** WebSocket close code "Policy violation". */
const POLICY_CODE = 1008;

/** Counts the frames of one socket that its limits have refused in a row. Ends the socket of a client that goes on all the same. */
export class RefusedFrames {
  readonly #socket: Pick<ClientSocket, 'end'>;
  #count = 0;

  constructor(socket: Pick<ClientSocket, 'end'>) {
    this.#socket = socket;
  }

  /** A frame was within the limits. */
  endRow(): void {
    this.#count = 0;
  }

  /** A frame was refused. @returns whether its client is told. */
  add(): boolean {
    this.#count += 1;
    if (this.#count === MAX_REFUSED)
      this.#socket.end(
        POLICY_CODE,
        `the limits have refused ${MAX_REFUSED.toLocaleString('en')} frames in a row`,
      );
    return this.#count < MAX_REFUSED;
  }
}
