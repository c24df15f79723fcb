import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Scope } from '../../bench/support/scope.ts';
import { startService } from '../../bench/support/subjects.ts';
import { type Ending, ServiceProcess } from '../support/service/service-process.ts';

const scope = new Scope({ quick: true });
const PIECES = 100;
/** No two pieces are the same: one in the place of another would not be seen. */
const REPLY = Array.from({ length: PIECES }, (_, index) => ` é"chunk ${1_000 + index}`).join('');
const SCRIPT = [{ when: '^stream$', reply: REPLY, chunks: PIECES }];
let url: string;

beforeAll(async () => {
  const { server } = await startService(scope, {
    agent: { llm: { provider: 'scripted', model: 'bench', script: SCRIPT } },
  });
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(() => scope.close());

function loadOf(target: string, ...args: string[]): ServiceProcess {
  return new ServiceProcess(['--url', target, '--message', 'stream', '--reply', REPLY, ...args], {
    script: 'bench/load.ts',
  });
}

async function load(target: string, ...args: string[]): Promise<Ending> {
  await using process = loadOf(target, ...args);
  return await process.ended;
}

async function sessionsLeft(): Promise<unknown> {
  const response = await fetch(`${url}/api/sessions`);
  return JSON.parse(await response.text()).sessions;
}

/** Answers everything with ok. */
async function somethingElse(): Promise<{ server: Server; address: string }> {
  const server = createServer((_, res) => res.end('ok')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('it does not listen');
  return { server, address: `http://127.0.0.1:${bound.port}` };
}

describe('bench/load.ts', () => {
  it.each(['--ws', '--sse', '--sync'])(
    'finds a service in order over %s, and leaves nothing in it',
    async (transport) => {
      const args = ['--clients', '3', '--messages', '4', '--ramp', '0', '--drops', '0.05'];
      const { code, stdout } = await load(url, transport, ...args);
      expect(stdout).toMatch(/whole answer {5}12 /);
      expect(stdout).toMatch(/\nthis process took \d+ % of a core/);
      expect(stdout).toContain('check   3 of 3 sessions: everything received matches the log');
      expect(code).toBe(0);
      expect(await sessionsLeft()).toEqual([]);
    },
  );

  it('waits its turn where only some of its connections are allowed, and leaves nothing', async () => {
    const { server } = await startService(scope, {
      agent: {
        llm: { provider: 'scripted', model: 'bench', script: SCRIPT },
        limits: { connectionsPerAddress: 2, requestsPerMinute: false },
      },
    });
    const limited = `http://127.0.0.1:${server.port}`;
    const { code, stdout } = await load(limited, '--clients', '5', '--messages', '2', '--ramp', '0');
    expect(stdout).toMatch(/the limits of the service made it wait \d+ times: raise or switch off `limits`/);
    expect(stdout).toContain('check   5 of 5 sessions: everything received matches the log');
    expect(code).toBe(0);
    expect(JSON.parse(await (await fetch(`${limited}/api/sessions`)).text()).sessions).toEqual([]);
  });

  it.each(['--ws', '--sync'])('finds a service that gives another answer, over %s', async (transport) => {
    const { code, stdout } = await load(url, transport, '--clients', '1', '--messages', '1', '--reply', 'no');
    expect(stdout).toContain('FAULT   session ');
    expect(stdout).toContain('the answer is " é\\"chunk');
    expect(code).toBe(1);
  });

  it('tells what it has and cleans up when it is interrupted', async () => {
    await using process = loadOf(url, '--clients', '2', '--messages', '1000000', '--ramp', '0');
    await process.stderr(/ 2 clients {2}[1-9]/);
    process.kill('SIGINT');
    const { code, stdout } = await process.ended;
    expect(stdout).toContain('stopped before its end\ncheck   2 of 2 sessions: everything received');
    expect(code).toBe(1);
    expect(await sessionsLeft()).toEqual([]);
  });

  it('says so when nobody answers there, or somebody else', async () => {
    const { server, address } = await somethingElse();
    const other = await load(address);
    expect(other).toMatchObject({ code: 1, stdout: '' });
    expect(other.stderr).toBe(`there is no agent-service at ${address}: something else answers /healthz\n`);
    server.close();
    await once(server, 'close');
    const nobody = await load(address);
    expect(nobody.stderr).toContain(
      `there is no agent-service at ${address}: fetch failed: connect ECONNREFUSED`,
    );
  });
});
