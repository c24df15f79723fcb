import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { RecordingSocket } from '../../support/sockets/recording-socket.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      { when: 'pay', reply: 'Paying.', toolCalls: [{ tool: 'pay' }] },
      { when: '([^]*)', reply: 'you said $1' },
    ],
  },
  limits: { requestsPerMinute: false, messagesPerMinute: false, connectionsPerAddress: false },
});

/** Three principals in two tenants, and an admin of one of them. */
const NAMES = ['ada', 'bob', 'cleo', 'root'] as const;
type Name = (typeof NAMES)[number];
const TENANTS: Record<Name, string> = { ada: 'acme', bob: 'acme', cleo: 'orbit', root: 'acme' };
/** Whose words somebody may read. */
const MAY_READ: Record<Name, readonly Name[]> = {
  ada: ['ada'],
  bob: ['bob'],
  cleo: ['cleo'],
  root: ['ada', 'bob', 'root'],
};

const tokens = () =>
  new KnownTokens({
    ada: identity('ada'),
    bob: identity('bob'),
    cleo: identity('cleo', { tenant: 'orbit' }),
    root: identity('root', { roles: ['admin'] }),
  });

/** The word that marks everything somebody says. It is in no name of a tenant or principal. */
const markOf = (name: Name): string => `secret-${NAMES.indexOf(name)}-mark`;

/** One client, which keeps every byte that it receives. */
class Person {
  readonly name: Name;
  readonly #service: RunningService;
  readonly received: string[] = [];
  #socket: RecordingSocket | null = null;

  constructor(name: Name, service: RunningService) {
    this.name = name;
    this.#service = service;
  }

  async ask(method: string, path: string, body?: object): Promise<string> {
    const answer = await this.#service.fetch(path, {
      method,
      headers: { ...bearer(this.name), 'Content-Type': 'application/json', 'Idempotency-Key': `k${method}` },
      ...(body && method !== 'GET' && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    this.received.push(text, JSON.stringify([...answer.headers]));
    return text;
  }

  async listen(session: string): Promise<void> {
    const { ticket } = JSON.parse(await this.ask('POST', '/api/tickets', {}));
    this.stop();
    const query = `session=${encodeURIComponent(session)}&after=0&statecharts=1&ticket=${ticket}`;
    const socket = new RecordingSocket(`ws://127.0.0.1:${this.#service.port}/?${query}`);
    await socket.opened.catch(() => undefined);
    this.#socket = socket;
  }

  stop(): void {
    if (this.#socket) this.received.push(JSON.stringify(this.#socket.frames));
    this.#socket?.[Symbol.dispose]();
    this.#socket = null;
  }
}

/** A session that somebody might name: one of their own, or of anybody. */
function anySession(pick: <T>(from: readonly T[]) => T): string {
  const session = pick(['default', 'plans', 'a']);
  const owner = pick(NAMES);
  return pick([session, session, `${TENANTS[owner]}/test:${owner}/${session}`]);
}

async function act(person: Person, pick: <T>(from: readonly T[]) => T, round: number): Promise<void> {
  const named = anySession(pick);
  // An admin may speak in every session of the tenant, which is no leak. Here it does not.
  const session = person.name === 'root' && pick([true, false]) ? 'default' : named;
  const isOthers = person.name === 'root' && session.includes('/');
  const inPath = encodeURIComponent(session);
  const message = isOthers ? 'nothing' : `${markOf(person.name)} ${round}`;
  const actions: (() => Promise<unknown>)[] = [
    () => person.ask('POST', '/api/message-sync', { message, sessionId: session }),
    () => person.ask('POST', '/api/message', { message: `pay ${message}`, sessionId: session }),
    () => person.ask('GET', '/api/sessions?query=secret'),
    () => person.ask('GET', '/api/sessions?limit=1000'),
    () => person.ask('GET', '/api/approvals'),
    () => person.ask('GET', `/api/sessions/${inPath}`),
    () => person.ask('GET', `/api/sessions/${inPath}/events`),
    () => person.ask('GET', `/api/sessions/${inPath}/export`),
    () => person.ask('POST', `/api/sessions/${inPath}/fork`, {}),
    () => person.ask('POST', `/api/sessions/${inPath}/cancel`, {}),
    () => person.ask('PATCH', `/api/sessions/${inPath}`, { title: message }),
    () => person.ask('DELETE', `/api/sessions/${inPath}`),
    () => person.ask('POST', '/api/reset', { sessionId: session }),
    () => person.ask('GET', '/api/statecharts'),
    () => person.ask('GET', `/api/statecharts?session=${inPath}`),
    () => person.ask('GET', '/metrics'),
    () => person.listen(session),
  ];
  await pick(actions)();
}

/** Lets everybody do anything, and looks through what each has received. */
async function tryAll(seed: number): Promise<void> {
  await using service = await RunningService.start({ yaml: YAML, verifiers: [tokens()] });
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(random() * from.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  };
  const people = NAMES.map((name) => new Person(name, service));
  for (let round = 0; round < 300; round += 1) await act(pick(people), pick, round);
  for (const person of people) person.stop();
  for (const { name, received } of people) {
    const all = received.join('\n');
    for (const other of NAMES) {
      const isSeen = all.includes(markOf(other));
      expect([name, other, isSeen && !MAY_READ[name].includes(other)]).toEqual([name, other, false]);
    }
    // Everybody has read at least what they said themselves.
    expect(all).toContain(markOf(name));
  }
}

describe('what is somebody else’s', () => {
  for (const seed of [1, 2, 3]) verifies('auth.isolation', `seed ${seed}`, () => tryAll(seed));

  verifies('auth.not-found', async () => {
    await using service = await RunningService.start({ yaml: YAML, verifiers: [tokens()] });
    const post = (name: Name, body: object) => service.post('/api/message-sync', body, bearer(name));
    expect((await post('ada', { message: 'hello', sessionId: 'plans' })).status).toBe(200);
    const seen = async (name: Name, id: string) => {
      const answer = await service.fetch(`/api/sessions/${encodeURIComponent(id)}`, {
        headers: bearer(name),
      });
      const text = await answer.text();
      if (answer.status === 200) return text;
      const { code, message, details } = parseEnvelope(text);
      return `${answer.status} ${code} ${message.replaceAll(id, 'ID')} ${JSON.stringify(details).replaceAll(id, 'ID')}`;
    };
    const ofAda = 'acme/test:ada/plans';
    expect(await seen('ada', 'plans')).toContain('"sessionId":"plans"');
    expect(await seen('ada', ofAda)).toContain('"sessionId":"plans"');
    expect(await seen('root', ofAda)).toContain(`"sessionId":"${ofAda}"`);
    const nothing = await seen('bob', 'plans');
    expect(nothing).toMatch(/^404 SESSION_NOT_FOUND/);
    for (const [name, id] of [
      ['bob', ofAda],
      ['cleo', ofAda],
      ['bob', 'acme/test:ada/other'],
      ['cleo', 'plans'],
      ['root', 'acme/test:ada/other'],
      ['root', 'orbit/test:cleo/default'],
    ] as const)
      expect([name, id, await seen(name, id)]).toEqual([name, id, nothing]);
  });

  verifies('auth.isolation', 'an idempotency key of one client is not that of another', async () => {
    await using service = await RunningService.start({ yaml: YAML, verifiers: [tokens()] });
    expect((await service.post('/api/message-sync', { message: 'hello' }, bearer('ada'))).status).toBe(200);
    const fork = async (name: Name, session: string) => {
      const headers = { ...bearer(name), 'Idempotency-Key': 'the-same' };
      const path = `/api/sessions/${encodeURIComponent(session)}/fork`;
      return (await service.post(path, {}, headers)).json() as Promise<{ sessionId: string }>;
    };
    const ofRoot = await fork('root', 'acme/test:ada/default');
    const ofAda = await fork('ada', 'default');
    expect(ofAda.sessionId).toMatch(/^fork-/);
    expect(ofAda.sessionId).not.toBe(ofRoot.sessionId);
    expect(await fork('ada', 'default')).toMatchObject({ sessionId: ofAda.sessionId });
  });

  verifies('auth.nobodys', async () => {
    const store = (await import('../../../src/adapters/memory/memory-event-store.ts')).memoryEventStore();
    const { keptOpen } = await import('../../support/log/crashing-store.ts');
    await using open = await RunningService.start({ yaml: YAML, adapters: { store: keptOpen(store) } });
    expect((await open.post('/api/message-sync', { message: 'from before' })).status).toBe(200);
    const people = new KnownTokens({
      ada: identity('ada', { tenant: 'default' }),
      root: identity('root', { tenant: 'default', roles: ['admin'] }),
      far: identity('far', { tenant: 'acme', roles: ['admin'] }),
    });
    await using service = await RunningService.start({
      yaml: YAML,
      adapters: { store: keptOpen(store) },
      verifiers: [people],
    });
    const list = async (name: string) =>
      (await service.fetch('/api/sessions', { headers: bearer(name) })).json() as Promise<{
        sessions: object[];
      }>;
    expect((await list('ada')).sessions).toEqual([]);
    expect((await list('far')).sessions).toEqual([]);
    expect((await list('root')).sessions).toMatchObject([{ sessionId: 'default/anonymous/default' }]);
    const events = await service.fetch('/api/sessions/default%2Fanonymous%2Fdefault/events', {
      headers: bearer('root'),
    });
    expect(await events.text()).toContain('from before');
    expect((await service.post('/api/message-sync', { message: 'mine' }, bearer('ada'))).status).toBe(200);
    expect((await open.fetch('/api/sessions/default')).status).toBe(200);
  });
});
