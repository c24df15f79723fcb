/** The WebSockets of one front. */
export interface SocketLoad {
  readonly sockets: number;
  /** Sockets with bytes that their clients have not taken yet. */
  readonly behind: number;
  /** The sum of these bytes. */
  readonly bufferedBytes: number;
  /** Sockets that were closed so far because their clients did not read. */
  readonly givenUp: number;
}

interface LoadedSocket {
  readonly bufferedBytes: number;
}

export function loadOf(open: Iterable<LoadedSocket>, givenUp: number): SocketLoad {
  const buffered = [...open].map(({ bufferedBytes }) => bufferedBytes);
  return {
    sockets: buffered.length,
    behind: buffered.filter((bytes) => bytes > 0).length,
    bufferedBytes: buffered.reduce((sum, bytes) => sum + bytes, 0),
    givenUp,
  };
}
