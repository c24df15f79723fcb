import { describe, expect, it } from 'vitest';
import type { Bus } from '../../../src/ports/bus.ts';
import { SessionQuota } from '../../../src/runtime/access/session-quota.ts';

/** An agent with these sessions. Its counts are answered when the test wants it. */
class CountedAgent {
  readonly sessions: Set<string>;
  /** How often the sessions were counted. */
  counts = 0;
  beforeCount: () => void = () => undefined;

  constructor(...sessions: string[]) {
    this.sessions = new Set(sessions);
  }

  get bus(): Pick<Bus, 'send'> {
    const send = async (type: string, request: { prefix?: string; sessionId?: string }) => {
      if (type === 'session.position') return { head: this.sessions.has(request.sessionId ?? '') ? 1 : 0 };
      this.counts += 1;
      const prefix = request.prefix ?? '';
      const found = [...this.sessions].filter((id) => id.startsWith(prefix)).length;
      this.beforeCount();
      return found;
    };
    return { send: send as Bus['send'] };
  }
}

function quotaOf(agent: CountedAgent, principal: number | false, tenant: number | false = false) {
  const clock = { now: 0 };
  const quota = new SessionQuota({ principal, tenant }, () => clock.now);
  const { bus } = agent;
  quota.watch(bus);
  const admitNow = (sessionId: string) => quota.admit(sessionId, bus);
  const admit = async (sessionId: string) => admitNow(sessionId);
  const begin = async (sessionId: string): Promise<void> => {
    const release = await admit(sessionId);
    agent.sessions.add(sessionId);
    quota.begun(sessionId);
    release();
  };
  return { clock, quota, admitNow, admit, begin };
}

const refusal = { code: 'RATE_LIMIT_EXCEEDED' };

describe('the quota of sessions', () => {
  it('counts the log once, and then what begins', async () => {
    const agent = new CountedAgent('acme/a/1', 'acme/ab/1', 'orbit/a/1');
    const { begin } = quotaOf(agent, 3);
    await begin('acme/a/2');
    await begin('acme/a/3');
    await expect(begin('acme/a/4')).rejects.toMatchObject({
      ...refusal,
      details: { limit: 3, of: 'principal' },
    });
    await begin('acme/ab/2');
    expect(agent.counts).toBe(2);
  });

  it('admits without waiting while it knows that there is room', async () => {
    const agent = new CountedAgent('acme/a/1');
    const { admitNow, admit } = quotaOf(agent, 3, 3);
    expect(admitNow('bare')).toBeTypeOf('function');
    (await admit('acme/a/2'))();
    const { counts } = agent;
    expect(admitNow('acme/a/2')).toBeTypeOf('function');
    expect(admitNow('acme/a/3')).toBeTypeOf('function');
    await expect(admit('acme/a/4')).rejects.toMatchObject(refusal);
    expect(agent.counts).toBe(counts);
  });

  it('lets nobody pass the limit together', async () => {
    const { admit } = quotaOf(new CountedAgent('acme/a/1'), 3);
    const all = await Promise.allSettled(['2', '3', '4', '5'].map((name) => admit(`acme/a/${name}`)));
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  });

  it('refuses no message to a session that exists', async () => {
    const { admit } = quotaOf(new CountedAgent('acme/a/1'), 1);
    await expect(admit('acme/a/1')).resolves.toBeTypeOf('function');
    await expect(admit('acme/a/2')).rejects.toMatchObject(refusal);
  });

  it('counts anew when a session begins while the log is read', async () => {
    const agent = new CountedAgent('acme/a/1');
    const { quota, admit } = quotaOf(agent, 2);
    agent.beforeCount = () => {
      agent.beforeCount = () => undefined;
      agent.sessions.add('acme/a/2');
      quota.begun('acme/a/2');
    };
    await expect(admit('acme/a/3')).rejects.toMatchObject(refusal);
    expect(agent.counts).toBe(2);
  });

  it('gives room that sessions have left which ended where nobody told', async () => {
    const agent = new CountedAgent('acme/a/1', 'acme/a/2');
    const { clock, admit, begin } = quotaOf(agent, 2);
    await expect(admit('acme/a/3')).rejects.toMatchObject(refusal);
    agent.sessions.clear();
    await expect(admit('acme/a/3')).rejects.toMatchObject(refusal);
    expect(agent.counts).toBe(1);
    clock.now += 5_000;
    const both = await Promise.allSettled([begin('acme/a/3'), begin('acme/a/4'), begin('acme/a/5')]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(agent.counts).toBe(2);
  });

  it('tells whoever waits that the log could not be read, and tries again for the next', async () => {
    const agent = new CountedAgent();
    const { admit } = quotaOf(agent, 1);
    agent.beforeCount = () => {
      throw new Error('the disk is gone');
    };
    await expect(admit('acme/a/1')).rejects.toThrow('the disk is gone');
    agent.beforeCount = () => undefined;
    await expect(admit('acme/a/1')).resolves.toBeTypeOf('function');
  });

  it('counts the tenant, and nothing of nobody or of a limit that is off', async () => {
    const agent = new CountedAgent('acme/a/1', 'acme/b/1');
    const { admit } = quotaOf(agent, false, 2);
    await expect(admit('acme/c/1')).rejects.toMatchObject({ details: { limit: 2, of: 'tenant' } });
    await expect(admit('bare')).resolves.toBeTypeOf('function');
    expect(agent.counts).toBe(1);
  });
});
