import { App, us_socket_local_port } from 'uWebSockets.js';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { HttpExchange } from '../../../src/adapters/uws/http-exchange.ts';

it('a stream that fails closes its connection without an end, and is reported once', async () => {
  const fault = new Error('the log cannot be read');
  const connected = Promise.withResolvers<void>();
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('data: 1\n\n');
    await connected.promise;
    throw fault;
  }
  const app = App();
  const reported = new Promise<unknown>((resolve) => {
    app.get('/*', (res) => {
      const body = ReadableStream.from(failing());
      new HttpExchange(res, 'GET').respond({ status: 200, headers: {}, body }).catch(resolve);
    });
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(socket === false ? 0 : us_socket_local_port(socket)));
  });
  // What nobody handles would end the process.
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.prependListener('unhandledRejection', note);
  try {
    const request = get({ port, host: '127.0.0.1', agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    connected.resolve();
    const read = response?.setEncoding('utf8').toArray();
    await expect(read).rejects.toThrow('aborted');
    expect(await reported).toBe(fault);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    app.close();
  }
});

it('a stream of bytes that is ended by a stop has no end, so that nobody takes it for complete', async () => {
  const app = App();
  const exchanges: HttpExchange[] = [];
  app.get('/*', (res) => {
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(Buffer.from('line 1\n')),
    });
    const exchange = new HttpExchange(res, 'GET');
    exchanges.push(exchange);
    void exchange.respond({ status: 200, headers: {}, body, stream: 'bytes' });
  });
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(socket === false ? 0 : us_socket_local_port(socket)));
  });
  try {
    const request = get({ port, host: '127.0.0.1', agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    const read = response?.setEncoding('utf8').toArray();
    for (const exchange of exchanges) exchange.endStream();
    await expect(read).rejects.toThrow('aborted');
  } finally {
    app.close();
  }
});
