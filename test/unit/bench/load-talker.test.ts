import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '../../../bench/load/instance.ts';
import { readOptions } from '../../../bench/load/options.ts';
import { Talker } from '../../../bench/load/talker.ts';
import { Tally } from '../../../bench/load/tally.ts';
import type { StreamEvent } from '../../../src/client/stream-position.ts';
import { LoadSession, type LoadSessionOptions, PIECES } from '../../support/sessions/load-session.ts';

const MESSAGES = 3;
/** There is room at once. */
const OPEN = { wait: async () => undefined, release: () => undefined };

async function talk(
  sessionOptions: LoadSessionOptions,
  { drops = 0, stop = false, reply = PIECES.join('') } = {},
) {
  const session = new LoadSession(sessionOptions);
  const tally = new Tally(MESSAGES);
  const args = ['--url', 'http://127.0.0.1:1', '--messages', `${MESSAGES}`, '--timeout', '0.5'];
  const options = readOptions([...args, '--drops', `${drops}`, '--reply', reply]);
  const log = async (): Promise<LoggedEvent[]> => JSON.parse(JSON.stringify(session.log));
  const instance = { log, cancel: async () => undefined };
  const stopping = stop ? AbortSignal.abort() : new AbortController().signal;
  await new Talker('s', {
    options,
    tally,
    instance,
    open: session.open,
    stopping,
    queue: OPEN,
  }).run();
  return { tally, session };
}

/** Something else in place of the second frame of that kind. */
function secondOf(event: StreamEvent['event'], instead: (frame: StreamEvent) => readonly unknown[]) {
  let count = 0;
  return (frame: StreamEvent): readonly unknown[] => {
    if (frame.event === event) count += 1;
    return frame.event === event && count === 2 ? instead(frame) : [frame];
  };
}

describe('a client under load', () => {
  it('finds nothing wrong with a stream that is whole', async () => {
    const { tally } = await talk({});
    expect(tally).toMatchObject({ isClean: true, checked: 1, chunks: 9, lost: 0, resumed: 0 });
    expect(tally.rows).toMatchObject([{ what: 'first chunk' }, { what: 'whole answer', count: MESSAGES }]);
  });

  it.each([
    ['a chunk is lost', secondOf('chunk', () => []), 'text at 9 came after text up to 4'],
    ['a chunk comes twice', secondOf('chunk', (frame) => [frame, frame]), 'received twice'],
    [
      'a chunk is another one',
      secondOf('chunk', (frame) => [{ ...frame, data: { content: 'SAID ' } }]),
      'the text of step 1 differs from the streamed text',
    ],
    ['an event is lost', secondOf('stepCompleted', () => []), 'event 6 came after'],
    ['an event comes twice', secondOf('message', (frame) => [frame, frame]), 'received twice'],
    [
      'the response is another one',
      secondOf('response', (frame) => [{ ...frame, data: { content: 'no' } }]),
      'the answer differs from the streamed text',
    ],
    ['what comes is no frame', secondOf('chunk', () => ['nonsense']), 'not a frame: nonsense'],
  ])('tells once that %s', async (_, network, fault) => {
    const { tally } = await talk({ network });
    expect(tally.faults).toEqual([expect.stringContaining(fault)]);
    expect(tally.failures).toEqual([]);
    expect(tally.isClean).toBe(false);
  });

  it('tells that an answer is not the one it must be, although the log has the same', async () => {
    const { tally } = await talk({}, { reply: 'you said bye' });
    expect(tally.faults).toEqual(['session s: the answer is "you said hello" and must be "you said bye"']);
  });

  it('tells that a message is in the log as another one', async () => {
    const { tally } = await talk({
      network: secondOf('message', (frame) => [{ ...frame, data: { ...frame.data, content: 'hell' } }]),
    });
    expect(tally.faults).toEqual([expect.stringContaining('the message is "hell" and must be "hello"')]);
  });

  it('tells that a response which the log has never came', async () => {
    const { tally } = await talk({ network: secondOf('response', () => []) });
    expect(tally.failures).toEqual([['no answer within 0.5 s', 1]]);
    expect(tally.faults).toEqual(['session s: 5 events were received, 6 are in the log']);
  });

  it('goes on after a turn that fails, and knows its events too', async () => {
    const { tally } = await talk({ fails: (turn) => turn === 2 });
    expect(tally.failures).toEqual([['AGENT_ERROR: no', 1]]);
    expect(tally).toMatchObject({ faults: [], checked: 1 });
    expect(tally.rows.at(-1)).toMatchObject({ count: 2 });
  });

  it('says a message again, under its id, when the connection is lost before it was accepted', async () => {
    const { tally, session } = await talk({ breaksAtSaying: (time) => time === 2 });
    expect(tally).toMatchObject({ isClean: true, checked: 1, lost: 1 });
    const [first, second, again, third] = session.said;
    expect(again).toBe(second);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('waits for the end of a limit, at its connection and at a message, and says the message again', async () => {
    const { tally, session } = await talk({ limits: { opening: 1, saying: 2 } });
    expect(tally).toMatchObject({ isClean: true, checked: 1, limited: 2 });
    expect(tally.rows).toMatchObject([{}, { what: 'whole answer', count: MESSAGES }]);
    expect(session.said).toHaveLength(MESSAGES + 1);
    expect(new Set(session.said).size).toBe(MESSAGES);
  });

  it('asks nothing more when it is stopped, and still looks at the log', async () => {
    const { tally, session } = await talk({}, { stop: true });
    expect(session.said).toEqual([]);
    expect(tally).toMatchObject({ checked: 1, isClean: true });
  });

  it('gets to the end when it drops its connection at every frame', async () => {
    const { tally } = await talk({}, { drops: 1 });
    expect(tally).toMatchObject({ isClean: true, checked: 1 });
    expect(tally.resumed).toBeGreaterThanOrEqual(2 * MESSAGES);
  });
});
