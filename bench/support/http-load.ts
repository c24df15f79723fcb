import { connect, type Socket } from 'node:net';

export interface LoadResult {
  readonly seconds: number;
  /** One for each request, in milliseconds, ascending. */
  readonly latencies: readonly number[];
}

/** Sends `total` POSTs over `connections` kept-alive connections, one at a time on each. Lean, so that the server is what is measured. */
export async function loadHttp(
  port: number,
  path: string,
  connections: number,
  total: number,
  bodyOf: (index: number) => string,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      try {
        while (next < total) {
          const body = bodyOf(next);
          next += 1;
          const sent = performance.now();
          await exchange(socket, path, body);
          latencies.push(performance.now() - sent);
        }
      } finally {
        socket.destroy();
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  return { seconds, latencies: latencies.toSorted((a, b) => a - b) };
}

function exchange(socket: Socket, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    const finish = (error?: Error): void => {
      socket.off('data', onData).off('error', finish).off('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onClose = (): void => finish(new Error('the server closed the connection'));
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
      if (received.length < head + 4 + length) return;
      finish(received.startsWith('HTTP/1.1 200') ? undefined : new Error(received));
    };
    socket.on('data', onData).on('error', finish).on('close', onClose);
    const bytes = Buffer.byteLength(body);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n${body}`,
    );
  });
}
