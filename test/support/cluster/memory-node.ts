import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { chooseAdapters } from '../../../src/app/adapters/choose-adapters.ts';
import { composeAgent } from '../../../src/app/compose.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import type { SessionSignal } from '../../../src/core/session/session-signal.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import type { LanguageModel } from '../../../src/ports/language-model.ts';
import { Cluster } from '../../../src/runtime/cluster/cluster.ts';
import { recordingLog } from '../telemetry/recording-log.ts';
import { MemoryNetwork } from './memory-link.ts';
import { MemoryClusterLog, type MemoryMembership } from './memory-membership.ts';

const AGENT = parseAgentFile('llm: { provider: scripted, model: offline }', 'agent.yml', {});

/** A whole agent of a node whose database and network are in memory. @param model the scripted one if absent. */
export async function memoryNode(
  membership: MemoryMembership,
  network: MemoryNetwork,
  model?: LanguageModel,
) {
  const log = recordingLog();
  const adapters = await chooseAdapters({ config: AGENT.config, dataDir: ':memory:', environment: {}, log });
  const link = network.connect();
  const { store } = membership;
  const cluster = new Cluster({ membership, link, store, log });
  const agent = await composeAgent({
    ...AGENT,
    log,
    adapters: { ...adapters, ...(model && { model }), store, cluster },
  });
  await agent.recovered;
  return { agent, bus: agent.bus, cluster, link, log, membership };
}

export type MemoryNode = Awaited<ReturnType<typeof memoryNode>>;

interface PairOptions {
  /** Of the first node. The scripted one if absent. */
  readonly model?: LanguageModel;
  /** Of the other node. */
  readonly otherModel?: LanguageModel;
  /** The log that both share. */
  readonly log?: EventStore;
}

/** Two nodes of one cluster. */
export async function memoryPair({ model, otherModel, log = memoryEventStore() }: PairOptions = {}) {
  const shared = new MemoryClusterLog(log);
  const network = new MemoryNetwork();
  const memberships = [shared.join(), shared.join()] as const;
  await memberships[0].refresh();
  // Both at once: each asks the other at its start, and would wait in vain for one that does not listen yet.
  const [one, other] = await Promise.all([
    memoryNode(memberships[0], network, model),
    memoryNode(memberships[1], network, otherModel),
  ]);
  const close = async (): Promise<void> => {
    await one.agent.close();
    await other.agent.close();
  };
  return { shared, network, one, other, [Symbol.asyncDispose]: close };
}

export type MemoryPair = Awaited<ReturnType<typeof memoryPair>>;

/** Resolves at the next signal of the session that is wanted. */
export function nextSignal(
  bus: Bus,
  sessionId: string,
  isWanted: (signal: SessionSignal) => boolean,
): Promise<SessionSignal> {
  return new Promise((resolve) => {
    const listener = {
      hear: (signal: SessionSignal) => {
        if (!isWanted(signal)) return;
        bus.offSession(sessionId, listener);
        resolve(signal);
      },
    };
    bus.onSession(sessionId, listener);
  });
}

/** Whether the signal is such an event. */
export const isEvent =
  (type: string) =>
  (signal: SessionSignal): boolean =>
    'event' in signal && signal.event.type === type;
