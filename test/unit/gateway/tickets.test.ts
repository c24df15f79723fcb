import { expect, it } from 'vitest';
import { contextOf } from '../../../src/core/request/request-context.ts';
import { BearerAuthenticator } from '../../../src/gateway/security/bearer-authenticator.ts';
import { FailedAttempts } from '../../../src/gateway/security/failed-attempts.ts';
import { Tickets } from '../../../src/gateway/security/tickets.ts';
import type { Credentials } from '../../../src/ports/authenticator.ts';
import type { Peers } from '../../../src/ports/peers.ts';
import { KeyedSemaphore } from '../../../src/timing/keyed-semaphore.ts';
import { identity } from '../../support/access/known-tokens.ts';

/** As long as a ticket. */
const MADE_UP = 'x'.repeat(43);
/** Refused credentials of one address in a minute. */
const PER_ADDRESS = 20;

/** A node whose only other node has issued no ticket. */
function start() {
  let asked = 0;
  const peers: Peers = {
    clusterId: 'c',
    tell: () => undefined,
    onTold: () => undefined,
    onAsked: () => undefined,
    askAll: async <Answer>() => {
      asked += 1;
      // Tickets ask for nothing else.
      return [null as Answer];
    },
  };
  const tickets = new Tickets(peers);
  const failures = new FailedAttempts(async () => undefined);
  const questions = new KeyedSemaphore({ atOnce: 4, patienceMs: 10_000 });
  const authenticator = new BearerAuthenticator({
    verifiers: [],
    tickets,
    failures,
    inTurn: (key, work) => questions.run(key, work),
  });
  const use = async (ticket: string, address = '10.0.0.1') => {
    const request: Credentials = { headers: new Map(), query: `ticket=${ticket}` };
    return authenticator.authenticate(request, address);
  };
  return { tickets, use, asked: () => asked };
}

it('are looked for at the other nodes until too many of the address were refused', async () => {
  const { use, asked } = start();
  for (let times = 0; times < PER_ADDRESS; times += 1)
    await expect(use(MADE_UP)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  for (let times = 0; times < PER_ADDRESS; times += 1)
    await expect(use(MADE_UP)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  expect(asked()).toBe(PER_ADDRESS);
  await expect(use(MADE_UP, '10.0.0.2')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  expect(asked()).toBe(PER_ADDRESS + 1);
});

it('that come at once are looked for until too many of the address were refused', async () => {
  const { use, asked } = start();
  const all = await Promise.allSettled(Array.from({ length: 200 }, () => use(MADE_UP)));
  expect(all.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  // A few were on their way when the limit was reached.
  expect(asked()).toBeGreaterThanOrEqual(PER_ADDRESS);
  expect(asked()).toBeLessThan(PER_ADDRESS + 5);
});

it('of this node are good for every address', async () => {
  const { tickets, use, asked } = start();
  for (let times = 0; times < PER_ADDRESS; times += 1) await use(MADE_UP).catch(() => undefined);
  const { ticket } = tickets.issue(contextOf(identity('ada')));
  expect(await use(ticket)).toMatchObject({ principal: 'test:ada' });
  expect(asked()).toBe(PER_ADDRESS);
});

it('have no trace: that of the request for a ticket ends with it', async () => {
  const { tickets, use } = start();
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  const { ticket } = tickets.issue({ ...contextOf(identity('ada')), trace });
  expect(await use(ticket)).not.toHaveProperty('trace');
});
