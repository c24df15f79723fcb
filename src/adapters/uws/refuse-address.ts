import { once } from 'node:events';
import { createServer } from 'node:net';
import { hostAndPort } from '../../core/host-literal.ts';

/** Rejects with the reason why an address cannot be used. uWebSockets.js gives none, so Node tries to listen too. */
export async function refuseAddress(host: string, port: number): Promise<never> {
  throw new Error(
    `cannot listen on ${hostAndPort(host, port)}: ${explain(await errorCode(host, port), host, port)}`,
  );
}

async function errorCode(host: string, port: number): Promise<string> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } finally {
    server.close();
  }
}

function explain(code: string, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is in use; choose another with --web-port (0 takes a free one), or stop what listens there`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine; choose one with --host, such as 127.0.0.1`;
    case 'EACCES':
      return `this user may not listen on port ${port}; choose one from 1024 with --web-port`;
    case 'none':
      return 'the port was in use a moment ago; start again, or choose another with --web-port';
    default:
      return `${code}; choose another address with --host, or another port with --web-port`;
  }
}
