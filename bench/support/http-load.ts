import { HttpConnection, type HttpRequestDeps } from './http-connection.ts';
import type { Work } from './measured.ts';

export interface HttpLoad {
  readonly port: number;
  readonly inFlight: number;
  readonly total: number;
  readonly requestOf: (index: number) => HttpRequestDeps;
}

/**
 * Sends `total` requests over `inFlight` keep-alive connections and counts the whole answers. Rejects when one is not 200.
 */
export async function loadHttp({ port, inFlight, total, requestOf }: HttpLoad): Promise<Work> {
  const latencies: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      const connection = new HttpConnection(localUrl(port));
      try {
        while (next < total) {
          const request = requestOf(next);
          next += 1;
          const sent = performance.now();
          const { status, body } = await connection.request(request);
          if (status !== 200) throw new Error(`${request.path} was answered with ${status}: ${body}`);
          latencies.push(performance.now() - sent);
        }
      } finally {
        connection.close();
      }
    }),
  );
  return { operations: latencies.length, latencies };
}

export function syncMessage(sessionId: string, message = 'hello'): HttpRequestDeps {
  return { path: '/api/message-sync', body: JSON.stringify({ message, sessionId }) };
}

export function localUrl(port: number): URL {
  return new URL(`http://127.0.0.1:${port}`);
}
