import { type us_listen_socket, us_socket_local_port } from 'uWebSockets.js';
import { describe, expect, it } from 'vitest';
import { UwsBroadcast } from '../../../src/adapters/uws/uws-broadcast.ts';
import { PIECE_CHARACTERS } from '../../../src/adapters/uws/uws-socket.ts';
import { webSocketBehavior } from '../../../src/adapters/uws/web-socket-behavior.ts';
import { errorResponse } from '../../../src/gateway/http/error-response.ts';
import type { ClientSocket } from '../../../src/ports/client-socket.ts';
import type { SocketFront } from '../../../src/ports/web-server.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';

const MEGABYTE = 1024 * 1024;
/** More than the system takes for a client that does not read. */
const UNREAD_BYTES = 32 * MEGABYTE;

/** One end of a connection, and the other. */
interface Link {
  readonly socket: ClientSocket;
  readonly client: RawWebSocket;
  /** Resolves when the service's end has closed. */
  readonly closed: Promise<void>;
}

/** Real sockets on a port of their own. */
class App implements Disposable {
  readonly broadcast = new UwsBroadcast();
  readonly #opened: { socket: ClientSocket; closed: Promise<void> }[] = [];
  readonly #clients: RawWebSocket[] = [];
  readonly #port: Promise<number>;

  constructor() {
    const { app } = this.broadcast;
    const admission = { open: (socket: ClientSocket) => this.#open(socket), release };
    const front: SocketFront = { admit: () => admission, drain, end: drain };
    app.ws('/*', webSocketBehavior({ front, http: { refuse: errorResponse } }, MEGABYTE));
    this.#port = new Promise((resolve, reject) => {
      app.listen('127.0.0.1', 0, (listening: us_listen_socket | false) => {
        if (listening === false) reject(new Error('no port'));
        else resolve(us_socket_local_port(listening));
      });
    });
  }

  /** @param topics that the socket is subscribed to from the beginning. */
  async link(...topics: string[]): Promise<Link> {
    const client = await RawWebSocket.open(await this.#port);
    this.#clients.push(client);
    const opened = this.#opened.shift();
    if (!opened) throw new Error('no socket was opened');
    for (const topic of topics) opened.socket.subscribe(topic);
    return { ...opened, client };
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client[Symbol.dispose]();
    this.broadcast.app.close();
  }

  #open(socket: ClientSocket) {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#opened.push({ socket, closed });
    return { receive: () => undefined, drained: () => undefined, closed: resolve };
  }
}

const release = (): void => undefined;
const drain = (): void => undefined;

/** All that the client was sent before the service closed the socket. */
async function textsOf({ socket, client }: Link): Promise<string[]> {
  socket.end(1000, 'the end');
  const { texts, close } = await client.readToEnd();
  expect(close).toEqual({ code: 1000, reason: 'the end' });
  return texts;
}

describe('what is published on a topic of uWebSockets.js', () => {
  it('comes to its subscribers alone, whatever the size', async () => {
    using app = new App();
    const links = [await app.link('t'), await app.link('t'), await app.link('other'), await app.link()];
    const large = 'x'.repeat(MEGABYTE);
    for (const text of ['é', large, 'small']) app.broadcast.publish('t', text);
    const texts = await Promise.all(links.map(textsOf));
    expect(texts).toEqual([['é', large, 'small'], ['é', large, 'small'], [], []]);
  });

  it('and what is sent to one of them come in the order of the calls', async () => {
    using app = new App();
    const [one, other] = [await app.link(), await app.link('t')];
    const expected: string[] = [];
    const say = (text: string, speak: (text: string) => void): void => {
      expected.push(text);
      speak(text);
    };
    const send = (text: string): boolean => one.socket.send(text);
    const publish = (text: string): void => app.broadcast.publish('t', text);
    for (const text of ['sent 1', 'sent 2']) say(text, send);
    one.socket.subscribe('t');
    say('published 1', publish);
    say('sent 3', send);
    // More than uWebSockets.js gathers for a socket, and than it takes in one piece.
    for (let index = 0; index < 100; index += 1) say(`published ${index + 2}`, publish);
    say('sent 4', send);
    say('l'.repeat(50_000), publish);
    say('sent 5', send);
    // Longer than is published, with characters of two code units at the ends of its pieces.
    say(`sent ${'🙂'.repeat(PIECE_CHARACTERS)}`, send);
    say(`sent! ${'🙂'.repeat(PIECE_CHARACTERS)}`, send);
    await Promise.resolve();
    say('published last', publish);
    one.socket.unsubscribe('t');
    say('sent 6', send);
    publish('not for it');
    say('sent 7', send);
    expect(await textsOf(one)).toEqual(expected);
    const published = expected.filter((text) => !text.startsWith('sent'));
    expect(await textsOf(other)).toEqual([...published, 'not for it']);
  });

  it('is exactly what was published while a socket was subscribed', async () => {
    using app = new App();
    const [stays, comes, goes] = [await app.link('t'), await app.link(), await app.link('t')];
    app.broadcast.publish('t', '1');
    comes.socket.subscribe('t');
    app.broadcast.publish('t', '2');
    goes.socket.unsubscribe('t');
    app.broadcast.publish('t', '3');
    goes.socket.subscribe('t');
    goes.socket.subscribe('t');
    app.broadcast.publish('t', '4');
    expect(await textsOf(stays)).toEqual(['1', '2', '3', '4']);
    expect(await textsOf(comes)).toEqual(['2', '3', '4']);
    expect(await textsOf(goes)).toEqual(['1', '2', '4']);
  });

  it('goes on to the others when one closes, of either side', async () => {
    using app = new App();
    const [stays, ended, gone] = [await app.link('t'), await app.link('t'), await app.link('t')];
    app.broadcast.publish('t', '1');
    expect(await textsOf(ended)).toEqual(['1']);
    gone.client[Symbol.dispose]();
    await gone.closed;
    app.broadcast.publish('t', '2');
    ended.socket.subscribe('t');
    gone.socket.unsubscribe('t');
    expect(app.broadcast.app.numSubscribers('t')).toBe(1);
    expect(await textsOf(stays)).toEqual(['1', '2']);
    expect(app.broadcast.app.numSubscribers('t')).toBe(0);
    app.broadcast.publish('t', 'nobody listens');
  });

  it('stays within its app, also where another has a topic of the same name', async () => {
    using app = new App();
    using another = new App();
    const [here, there] = [await app.link('t'), await another.link('t')];
    app.broadcast.publish('t', 'here');
    another.broadcast.publish('t', 'there');
    expect(await textsOf(here)).toEqual(['here']);
    expect(await textsOf(there)).toEqual(['there']);
  });

  it('is kept whole for a client that does not read, and a close frame comes after it', async () => {
    using app = new App();
    const [slow, quick] = [await app.link('t'), await app.link('t')];
    const received = quick.client.readToEnd();
    const piece = 'x'.repeat(1_000);
    const pieces = UNREAD_BYTES / piece.length;
    for (let index = 0; index < pieces; index += 1) app.broadcast.publish('t', `${index} ${piece}`);
    expect(slow.socket.bufferedBytes()).toBeGreaterThan(8 * MEGABYTE);
    const texts = await textsOf(slow);
    expect(texts.map((text) => Number.parseInt(text, 10))).toEqual([...Array(Math.ceil(pieces)).keys()]);
    quick.socket.end(1000, 'the end');
    expect((await received).texts).toEqual(texts);
  });
});
