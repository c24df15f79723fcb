import { describe, expect, it } from 'vitest';
import type { RawSocket } from '../../../src/adapters/uws/raw-socket.ts';
import { PIECE_CHARACTERS, UwsSocket } from '../../../src/adapters/uws/uws-socket.ts';

/** Writes down what reaches the network, and how it was grouped. */
class RecordingRawSocket implements RawSocket {
  readonly calls: string[] = [];
  kept = 0;

  send(text: string): void {
    this.calls.push(short(text));
  }

  sendFirstFragment(text: string): void {
    this.calls.push(`first ${short(text)}`);
  }

  sendFragment(text: string): void {
    this.calls.push(`next ${short(text)}`);
  }

  sendLastFragment(text: string): void {
    this.calls.push(`last ${short(text)}`);
  }

  cork(work: () => void): void {
    this.calls.push('cork');
    work();
    this.calls.push('uncork');
  }

  subscribe(topic: string): void {
    this.calls.push(`subscribe ${topic}`);
  }

  unsubscribe(topic: string): void {
    this.calls.push(`unsubscribe ${topic}`);
  }

  end(code: number): void {
    this.calls.push(`end ${code}`);
  }

  getBufferedAmount(): number {
    return this.kept;
  }
}

const short = (text: string): string => (text.length > 100 ? `${text.length} characters` : text);

function open(): { raw: RecordingRawSocket; socket: UwsSocket } {
  const raw = new RecordingRawSocket();
  return { raw, socket: new UwsSocket(raw) };
}

describe('a socket of uWebSockets.js', () => {
  it('sends what comes in one go in one cork, in its order, as soon as the caller is done', async () => {
    const { raw, socket } = open();
    for (const text of ['one', 'two', 'three']) expect(socket.send(text)).toBe(true);
    expect(raw.calls).toEqual([]);
    await Promise.resolve();
    expect(raw.calls).toEqual(['cork', 'one', 'two', 'three', 'uncork']);
  });

  it('sends a single frame without a cork, and the next one by itself', async () => {
    const { raw, socket } = open();
    socket.send('one');
    await Promise.resolve();
    socket.send('two');
    await Promise.resolve();
    expect(raw.calls).toEqual(['one', 'two']);
  });

  it('gathers no more than one system call takes', () => {
    const { raw, socket } = open();
    socket.send('small');
    socket.send('x'.repeat(16 * 1024));
    expect(raw.calls).toEqual(['cork', 'small', '16384 characters', 'uncork']);
  });

  it('says when the client does not take what was sent, and when it does again', async () => {
    const { raw, socket } = open();
    raw.kept = 10;
    expect(socket.send('one')).toBe(true);
    await Promise.resolve();
    expect(socket.send('two')).toBe(false);
    expect(socket.bufferedBytes()).toBe(10);
    await Promise.resolve();
    raw.kept = 0;
    expect(socket.send('three')).toBe(true);
  });

  it('sends at once when it is subscribed to a topic, and before that what waited', () => {
    const { raw, socket } = open();
    socket.send('one');
    socket.subscribe('topic');
    socket.send('two');
    socket.send('three');
    expect(raw.calls).toEqual(['one', 'subscribe topic', 'two', 'three']);
  });

  it('sends what is large in one piece only as long as it was never subscribed', async () => {
    const { raw, socket } = open();
    const text = 'x'.repeat(2 * PIECE_CHARACTERS + 1);
    socket.send(text);
    socket.subscribe('topic');
    socket.unsubscribe('topic');
    socket.send(text);
    socket.send(text.slice(0, PIECE_CHARACTERS));
    const [piece, rest] = [`${PIECE_CHARACTERS} characters`, 'x'];
    expect(raw.calls).toEqual([
      `${text.length} characters`,
      'subscribe topic',
      'unsubscribe topic',
      `first ${piece}`,
      `next ${piece}`,
      `last ${rest}`,
      piece,
    ]);
  });

  it('closes after what was sent before', async () => {
    const { raw, socket } = open();
    socket.send('last words');
    socket.end(1000, 'over');
    await Promise.resolve();
    expect(raw.calls).toEqual(['last words', 'end 1000']);
  });

  it('never touches a socket that has closed', async () => {
    const { raw, socket } = open();
    socket.send('on its way');
    socket.closed();
    expect(socket.send('too late')).toBe(true);
    expect(socket.bufferedBytes()).toBe(0);
    socket.subscribe('topic');
    socket.unsubscribe('topic');
    socket.end(1000, 'over');
    await Promise.resolve();
    expect(raw.calls).toEqual([]);
  });
});
