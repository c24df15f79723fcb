import { once } from 'node:events';
import type { Server } from 'node:http';

/** Resolves when the server listens, on a free port of this machine alone. */
export async function listenLocally(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** Where it listens, without a slash at the end. */
export function originOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return `http://127.0.0.1:${address.port}`;
}

/** Ends its connections, too. */
export async function closeAtOnce(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
