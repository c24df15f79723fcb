import { describe, expect, it } from 'vitest';
import { MachineState } from '../../../src/core/machine-state.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { ServedRequest } from '../../../src/gateway/http/http-message.ts';
import { Statecharts } from '../../../src/gateway/sse/statecharts.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';

const LARGE = 'x'.repeat(100_000);

function state(id: string, value: string, context = {}): MachineState {
  return { id, machine: 'turn', value, context, event: null, status: 'active', time: '' };
}

/** The answer to a request for the stream, and the way to tell it of a state; `watched` is false once nobody listens. */
async function ask(method: 'GET' | 'HEAD') {
  const bus = new LocalBus((error) => {
    throw error;
  });
  let tell: (state: MachineState) => void = () => undefined;
  let watched = false;
  bus.watchMachines((onState) => {
    tell = onState;
    watched = true;
    onState(state('first', 'there'));
    return () => {
      watched = false;
    };
  });
  const request: ServedRequest = {
    method,
    path: '/api/statecharts',
    query: '',
    headers: new Map([['accept', 'text/event-stream']]),
    peerAddress: '127.0.0.1',
    body: async () => new Uint8Array(),
    context: ANYONE,
  };
  const statecharts = new Statecharts(bus);
  const response = await statecharts.route().handler(request, {});
  return { response, statecharts, tell: (one: MachineState) => tell(one), isWatched: () => watched };
}

/** A reader of the stream. */
async function open() {
  const { response, tell, isWatched } = await ask('GET');
  const { body } = response;
  if (!(body instanceof ReadableStream)) throw new Error('expected a stream');
  const reader = body.getReader();
  const next = async (): Promise<string> => {
    const { value } = await reader.read();
    const json = /^event: machine\ndata: (.+)\n\n$/.exec(Buffer.from(value ?? []).toString())?.[1] ?? '';
    const told = MachineState.parse(JSON.parse(json));
    return `${told.id} ${JSON.stringify(told.value)}`;
  };
  return { tell, next, cancel: () => reader.cancel(), isWatched };
}

describe('the event stream of the statecharts', () => {
  it('tells what runs already, then what moves', async () => {
    const { tell, next, cancel } = await open();
    tell(state('first', 'moved'));
    expect([await next(), await next()]).toEqual(['first "there"', 'first "moved"']);
    await cancel();
  });

  it('tells a slow reader of the last state of each machine, and never of an older one after it', async () => {
    const { tell, next, cancel } = await open();
    for (const value of ['1', '2', '3']) tell(state('large', value, { text: LARGE }));
    tell(state('small', 'skipped'));
    tell(state('small', 'missed'));
    expect([await next(), await next(), await next()]).toEqual(['first "there"', 'large "1"', 'large "2"']);
    tell(state('small', 'last'));
    expect([await next(), await next()]).toEqual(['large "3"', 'small "last"']);
    const following = next();
    tell(state('small', 'after'));
    expect(await following).toBe('small "after"');
    await cancel();
  });

  it('watches no longer when its reader has gone', async () => {
    const { cancel, isWatched } = await open();
    expect(isWatched()).toBe(true);
    await cancel();
    expect(isWatched()).toBe(false);
  });

  it('is not opened by a HEAD request', async () => {
    const { response, statecharts, isWatched } = await ask('HEAD');
    expect(response).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: null,
    });
    expect([isWatched(), statecharts.streams]).toEqual([false, 0]);
  });
});
