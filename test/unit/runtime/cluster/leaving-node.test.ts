import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { chooseAdapters } from '../../../../src/app/adapters/choose-adapters.ts';
import { composeAgent } from '../../../../src/app/compose.ts';
import { parseAgentFile } from '../../../../src/config/reading/agent-file.ts';
import type { StreamId } from '../../../../src/core/log/streams.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import type { LanguageModel } from '../../../../src/ports/language-model.ts';
import type { LivingNode, Membership, StreamPlace } from '../../../../src/ports/membership.ts';
import { Cluster } from '../../../../src/runtime/cluster/cluster.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { isEvent, nextSignal } from '../../../support/cluster/memory-node.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const AGENT = parseAgentFile('llm: { provider: scripted, model: offline }', 'agent.yml', {});
const SELF = 1;
const PATIENCE_MS = 60_000;
/** More turns of the event loop than giving up a session takes. */
const ROUNDS = 50;
/** After so many renewals a node looks for sessions without an owner. */
const RENEWALS = 4;

/** The only node of a cluster. The test decides when its claims of orphans are done. */
class OneNode implements Membership {
  readonly self = SELF;
  readonly cluster = 'one';
  readonly isHeld = true;
  readonly living: ReadonlyMap<number, LivingNode>;
  readonly released: StreamId[] = [];
  claim = async (stream: StreamId): Promise<void> => void this.#owned.add(stream);
  claimOrphans = async (): Promise<StreamId[]> => [];
  readonly #owned = new Set<StreamId>();
  readonly #listeners = new Set<() => void>();

  constructor() {
    const load = { sessions: 0, turns: 0, waiting: 0 };
    const node = {
      nodeId: SELF,
      name: 'one',
      version: '1',
      since: 0,
      leaseMs: 2_000,
      isDraining: false,
      load,
    };
    this.living = new Map([[SELF, node]]);
  }

  report(): void {
    // Nobody else is there to be told.
  }

  async refresh(): Promise<void> {
    for (const listener of this.#listeners) listener();
  }

  onRenewed(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  owns(stream: StreamId): boolean {
    return this.#owned.has(stream);
  }

  presumeNew(stream: StreamId): void {
    this.#owned.add(stream);
  }

  forget(stream: StreamId): void {
    this.#owned.delete(stream);
  }

  async release(streams: readonly StreamId[]): Promise<void> {
    this.released.push(...streams);
  }

  onRemoved(): () => void {
    return () => undefined;
  }

  lose(): void {
    throw new Error('nobody has removed this node');
  }

  async places(): Promise<ReadonlyMap<StreamId, StreamPlace>> {
    return new Map();
  }
}

/** A node that is alone, with an agent whose model answers at once. */
async function start(model?: Pick<LanguageModel, 'generate'>) {
  const log = recordingLog();
  const membership = new OneNode();
  const adapters = await chooseAdapters({ config: AGENT.config, dataDir: ':memory:', environment: {}, log });
  const cluster = new Cluster({
    membership,
    link: new MemoryNetwork().connect(),
    store: adapters.store,
    log,
  });
  const agent = await composeAgent({
    ...AGENT,
    log,
    adapters: { ...adapters, ...(model && { model: { ...adapters.model, ...model } }), cluster },
  });
  const say = async (sessionId: string): Promise<void> => {
    const completed = nextSignal(agent.bus, sessionId, isEvent('turn.completed'));
    const message = { sessionId, turnId: crypto.randomUUID(), text: 'hello' };
    await agent.bus.send('turn.start', message, ANYONE);
    await completed;
  };
  return { membership, agent, say };
}

it('gives up no session while a claim is under way, which could take it back', async () => {
  const { membership, agent, say } = await start();
  await say('s');
  const claimed = Promise.withResolvers<StreamId[]>();
  membership.claimOrphans = () => claimed.promise;
  for (let renewal = 0; renewal < RENEWALS; renewal += 1) await membership.refresh();

  const drained = agent.drain(PATIENCE_MS);
  for (let round = 0; round < ROUNDS; round += 1) await nextRound();
  expect(membership.released).toEqual([]);
  claimed.resolve([]);
  await drained;
  expect(membership.released).toEqual(['s']);
  await agent.close();
});

it('waits for a claim and then for its turns no longer than it was told, together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { membership, agent, say } = await start({ generate: () => new Promise(() => undefined) });
    void say('s');
    membership.claimOrphans = () => new Promise(() => undefined);
    for (let renewal = 0; renewal < RENEWALS; renewal += 1) await membership.refresh();
    for (let round = 0; round < ROUNDS; round += 1) await nextRound();

    void agent.drain(PATIENCE_MS);
    for (let round = 0; round < ROUNDS; round += 1) await nextRound();
    await vi.advanceTimersByTimeAsync(PATIENCE_MS + 1);
    for (let round = 0; round < ROUNDS; round += 1) await nextRound();
    expect(membership.released).toEqual(['s']);
  } finally {
    vi.useRealTimers();
  }
});

it('gives many sessions up with few statements, one after the other', async () => {
  const { membership, agent, say } = await start();
  const sessions = Array.from({ length: 100 }, (_, number) => `s${number}`);
  await Promise.all(sessions.map(say));
  const running: number[] = [];
  let now = 0;
  const release = membership.release.bind(membership);
  membership.release = async (streams) => {
    now += 1;
    running.push(now);
    await nextRound();
    now -= 1;
    await release(streams);
  };
  await agent.drain(PATIENCE_MS);
  expect(membership.released.toSorted()).toEqual(sessions.toSorted());
  expect(Math.max(...running)).toBe(1);
  expect(running.length).toBeLessThan(10);
  await agent.close();
});
