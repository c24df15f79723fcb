import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { httpPushSender } from '../../../src/adapters/push/http-push-sender.ts';
import { PushAddressError } from '../../../src/ports/push-sender.ts';
import { PushReceiver } from '../../support/a2a/push-receiver.ts';

const BODY = JSON.stringify({
  task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING', timestamp: 'now' } },
});
const never = new AbortController().signal;

/** Resolves every name to the next of these lists of addresses. */
function resolver(...answers: readonly string[][]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    if (addresses.length === 0) throw new Error('ENOTFOUND');
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { asked, resolve };
}

const message = (url: string) => ({ url, headers: { 'Content-Type': 'application/a2a+json' }, body: BODY });

const servers: Server[] = [];
const tcpServers: TcpServer[] = [];
const tcpSockets: Socket[] = [];
afterEach(async () => {
  for (const socket of tcpSockets.splice(0)) socket.destroy();
  for (const server of tcpServers.splice(0)) await new Promise((resolve) => server.close(resolve));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** @returns the port of a server that speaks another protocol from the first request on. */
async function switchingPort(): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'),
    );
    socket.on('error', () => undefined);
    tcpSockets.push(socket);
  });
  tcpServers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** @returns the port of a server that accepts connections, and says nothing. */
async function silentPort(): Promise<number> {
  const server = createServer(() => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('the sender of push notifications', () => {
  it('refuses names that resolve to a private address, or to one among public ones', async () => {
    for (const addresses of [['127.0.0.1'], ['10.0.0.7'], ['8.8.8.8', '192.168.0.1'], ['fd00::1']]) {
      const { resolve } = resolver(addresses);
      const sender = httpPushSender({ allowPrivateAddresses: false, resolve });
      const url = 'https://rebound.example/hook';
      await expect(sender.check(url)).rejects.toThrow(PushAddressError);
      await expect(sender.send(message(url), never)).rejects.toThrow(PushAddressError);
    }
  });

  it('looks at the address anew each time, so a name that has become private is refused', async () => {
    const { resolve, asked } = resolver(['8.8.8.8'], ['127.0.0.1']);
    const sender = httpPushSender({ allowPrivateAddresses: false, resolve });
    await sender.check('https://rebound.example/hook');
    await expect(sender.send(message('https://rebound.example/hook'), never)).rejects.toThrow(
      PushAddressError,
    );
    expect(asked).toEqual(['rebound.example', 'rebound.example']);
  });

  it('connects to the address that was checked, and resolves the name once', async () => {
    await using receiver = await PushReceiver.start();
    const { resolve, asked } = resolver(['127.0.0.1'], ['192.0.2.1']);
    const sender = httpPushSender({ allowPrivateAddresses: true, resolve });
    const answer = await sender.send(message(`http://inside.example:${receiver.port}/hook`), never);
    expect(answer).toEqual({ status: 200, retryAfter: undefined });
    expect(receiver.received[0]?.headers.host).toBe(`inside.example:${receiver.port}`);
    expect(asked).toEqual(['inside.example']);
  });

  it('refuses addresses in the URL in whatever form, and other protocols', async () => {
    const { resolve, asked } = resolver(['8.8.8.8']);
    const sender = httpPushSender({ allowPrivateAddresses: false, resolve });
    for (const url of [
      ...['https://127.0.0.1/', 'https://127.1/', 'https://0x7f000001/', 'https://017700000001/'],
      ...['https://[::1]/', 'https://[::ffff:7f00:1]/', 'http://example.com/', 'file:///etc/passwd'],
      ...['https://ann@example.com/', 'example.com'],
    ]) {
      await expect(sender.check(url), url).rejects.toThrow(PushAddressError);
      await expect(sender.send(message(url), never), url).rejects.toThrow(PushAddressError);
    }
    expect(asked).toEqual([]);
  });

  it('accepts a name that cannot be resolved now, and fails when it sends', async () => {
    const { resolve } = resolver([]);
    const sender = httpPushSender({ allowPrivateAddresses: false, resolve });
    await sender.check('https://later.example/hook');
    const sending = sender.send(message('https://later.example/hook'), never);
    await expect(sending).rejects.toThrow('ENOTFOUND');
    await expect(sending).rejects.not.toBeInstanceOf(PushAddressError);
  });

  it('follows no redirection, and says how long to wait', async () => {
    await using receiver = await PushReceiver.start();
    const sender = httpPushSender({ allowPrivateAddresses: true });
    const headers = { Location: 'http://127.0.0.1:1/', 'Retry-After': '7' };
    receiver.answers.push({ status: 307, headers });
    expect(await sender.send(message(receiver.url), never)).toEqual({ status: 307, retryAfter: '7' });
    expect(receiver.received).toHaveLength(1);
  });

  it('fails at once when the receiver switches protocols, or closes the connection', async () => {
    const sender = httpPushSender({ allowPrivateAddresses: true });
    const port = await switchingPort();
    await expect(sender.send(message(`http://127.0.0.1:${port}/`), never)).rejects.toThrow(
      /without an answer|hang up/,
    );
  });

  it('gives up when there is no answer in time, and when it is stopped', async () => {
    const url = `http://127.0.0.1:${await silentPort()}/`;
    const hasty = httpPushSender({ allowPrivateAddresses: true, timeoutMs: 20 });
    await expect(hasty.send(message(url), never)).rejects.toMatchObject({ name: 'AbortError' });
    const stopped = new AbortController();
    const sending = httpPushSender({ allowPrivateAddresses: true }).send(message(url), stopped.signal);
    stopped.abort();
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  });
});
