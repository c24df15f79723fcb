import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Death, KilledService } from '../../support/crash/killed-service.ts';
import {
  type Watcher,
  watchWithClient,
  watchWithEventSource,
  watchWithWebSocket,
} from '../../support/crash/session-watchers.ts';
import {
  checkForks,
  checkMessages,
  checkPayments,
  checkSession,
  checkWatcher,
  type Log,
  type Logs,
} from '../../support/crash/workload-checks.ts';
import { workloadScript } from '../../support/crash/workload-script.ts';
import { WorkloadUser } from '../../support/crash/workload-user.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { SOURCES } from '../../support/project/describe-ways.ts';
import { eventually } from '../../support/project/eventually.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { processEnd } from '../../support/service/process-life.ts';
import { publishedBundle } from '../../support/service/published-bundle.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { listSessions } from '../../support/sessions/session-api.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { payingServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 6);
const SEED = Number(process.env.CRASH_SEED ?? 20_250_602);
const SESSIONS = ['a', 'b', 'c'];

const yaml = (ledger: string): string =>
  JSON.stringify({
    llm: { provider: 'scripted', model: 'offline', script: workloadScript },
    mcpServers: { tools: payingServer(ledger) },
    limits: { messagesPerMinute: false, requestsPerMinute: false, connectionsPerAddress: false },
  });

function deathBy(random: () => number): Death {
  const chance = random();
  if (chance < 0.15) return { after: 'start', ms: Math.floor(random() * 1_000) };
  if (chance < 0.5) return { after: 'listening', ms: Math.floor(random() * 900) };
  return { after: 'frames', count: 1 + Math.floor(random() * 3_000) };
}

const linesOf = async (folder: string, file: string): Promise<string[]> =>
  (await readFile(join(folder, file), 'utf8')).split('\n').filter((line) => line !== '');

interface Workload {
  readonly users: readonly WorkloadUser[];
  readonly watchers: readonly Watcher[];
}

/** Two users and three watchers a session. */
function begin(service: KilledService): Workload {
  const clients = SESSIONS.map((sessionId) => watchWithClient(service, sessionId));
  const others = SESSIONS.flatMap((sessionId) => [
    watchWithWebSocket(service, sessionId),
    watchWithEventSource(service, sessionId),
  ]);
  const users = clients.flatMap((watched, index) =>
    [1, 2].map((number) => {
      const random = seededRandom(SEED + 10 * index + number);
      return new WorkloadUser(`${watched.sessionId}${number}`, watched, service, random);
    }),
  );
  return { users, watchers: [...clients, ...others] };
}

/** The users talk while the service is killed and started again. In its last life they get their last answers. */
async function killWhileTheyTalk(service: KilledService, { users, watchers }: Workload): Promise<void> {
  let isOver = false;
  const talking = Promise.all(users.map((user) => user.talk(() => isOver)));
  const over = Promise.race([talking, ...watchers.map(({ watching }) => watching)]);
  const random = seededRandom(SEED);
  for (let round = 0; round < ROUNDS; round += 1) await Promise.race([service.live(deathBy(random)), over]);
  await Promise.race([service.start(), over]);
  isOver = true;
  await over;
}

/** Once every turn is settled. */
async function readLogs(service: KilledService): Promise<Logs> {
  const sessions = await eventually(
    () => listSessions(service, '?limit=1000'),
    (all) => all.every(({ status }) => status === 'idle'),
  );
  const logs = new Map<string, Log>();
  for (const { sessionId } of sessions) logs.set(sessionId, await readLog(service, sessionId));
  return logs;
}

async function checkAll(
  service: KilledService,
  { users, watchers }: Workload,
  ledger: string,
): Promise<void> {
  const logs = await readLogs(service);
  for (const [sessionId, log] of logs) await checkSession(service, sessionId, log);
  const sent = users.flatMap((user) => user.sent);
  expect(sent.filter(({ isAcknowledged }) => isAcknowledged).length).toBeGreaterThan(users.length);
  const answers = [...logs.values()].flat().filter(({ event }) => event === 'response');
  expect(answers.length).toBeGreaterThan(users.length);
  await checkMessages(sent, logs);
  const forks = users.flatMap((user) => user.forks);
  await checkForks(forks, logs);
  await checkPayments(await linesOf(ledger, 'paid'), logs);
  const resets = SESSIONS.flatMap((id) => logs.get(id) ?? []).filter(({ event }) => event === 'reset');
  expect(resets).toHaveLength(users.reduce((sum, user) => sum + user.resets, 0));
  for (const watcher of watchers) await checkWatcher(watcher, logs.get(watcher.sessionId) ?? []);
}

/** @param environment of the service. */
async function surviveAll(environment: Record<string, string> = {}): Promise<void> {
  await using ledger = await tempDirectory();
  await using folder = await agentFolder(yaml(ledger.path));
  await using bundle = await publishedBundle();
  // Each goes on with the log that the other has left.
  const scripts = [SOURCES, bundle.script];
  await using service = await KilledService.create(folder.path, scripts, { environment });
  const workload = begin(service);
  try {
    await killWhileTheyTalk(service, workload);
    await checkAll(service, workload, ledger.path);
  } catch (error) {
    throw new Error(`failed with CRASH_SEED=${SEED} CRASH_ROUNDS=${ROUNDS}`, { cause: error });
  } finally {
    for (const watcher of workload.watchers) watcher.stop();
  }
  await service[Symbol.asyncDispose]();
  // A tool server ends with its input, however the service has ended.
  for (const pid of await linesOf(ledger.path, 'pids')) await processEnd(Number(pid));
}

// A seed that fails has found something.
describe('a service that is killed at random', { retry: 0 }, () => {
  verifies('recovery.workload', () => surviveAll(), 60_000 + ROUNDS * 3_000);

  verifies(
    'postgres.workload',
    async () => {
      await using postgres = await PostgresServer.start();
      await surviveAll({ AGENT_SERVICE_STORE: postgres.newUrl() });
    },
    // Each life waits for the lease of the one before.
    60_000 + ROUNDS * 6_000,
  );
});
