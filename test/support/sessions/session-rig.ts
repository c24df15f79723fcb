import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { memorySnapshotStore } from '../../../src/adapters/memory/memory-snapshot-store.ts';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import type { SessionPolicy } from '../../../src/core/session/session-decider.ts';
import type { ApprovalConfig } from '../../../src/core/tool-call/approval-policy.ts';
import type { SamplingConfig } from '../../../src/core/tool-server/sampling-config.ts';
import type { TurnOptions } from '../../../src/core/turn/turn-options.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { oneProcess } from '../../../src/ports/session-directory.ts';
import type { SnapshotStore } from '../../../src/ports/snapshot-store.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { Journal } from '../../../src/runtime/sessions/journal.ts';
import { LogReaders } from '../../../src/runtime/sessions/log-readers.ts';
import { SessionFold } from '../../../src/runtime/sessions/session-fold.ts';
import { SessionRegistry } from '../../../src/runtime/sessions/session-registry.ts';
import { SessionSnapshots } from '../../../src/runtime/sessions/session-snapshots.ts';
import { WorkingMemory } from '../../../src/runtime/sessions/working-memory.ts';
import { McpSupervisor } from '../../../src/runtime/tools/mcp-supervisor.ts';
import { ToolCatalog } from '../../../src/runtime/tools/tool-catalog.ts';
import { TurnRunner } from '../../../src/runtime/turns/turn-runner.ts';
import type { Clock } from '../../../src/timing/clock.ts';
import { WatchedStore } from '../log/watched-store.ts';
import { DirectedModel } from '../models/directed-model.ts';
import { SignalRecord } from '../sockets/signal-record.ts';
import { recordingLog } from '../telemetry/recording-log.ts';
import { DirectedTools } from '../tools/directed-tools.ts';
import { serverBook } from '../tools/server-book.ts';
import { CLIENT } from './origins.ts';

export interface RigOptions {
  /** A log that earlier rigs have written to. */
  readonly store?: EventStore;
  readonly snapshots?: SnapshotStore;
  readonly tools?: DirectedTools;
  readonly policy?: SessionPolicy;
  readonly approval?: ApprovalConfig;
  /** What the tool server may ask of the model. */
  readonly sampling?: SamplingConfig;
  readonly maxSteps?: number;
  readonly stepTimeoutMs?: number;
  readonly keepReasoning?: boolean;
  readonly maxIdleBytes?: number;
  /** What large sessions may take together while they are at work. */
  readonly maxWorkingBytes?: number;
  readonly onFilling?: () => void;
  /** Whether the model is called while the log writes the message. */
  readonly callsEarly?: boolean;
  /** What the time-outs of turns go by, and the waits after a fault. */
  readonly clock?: Clock;
  /** The time by which approvals expire. */
  readonly now?: () => number;
  /** The time by which sessions are idle. */
  readonly elapsedMs?: () => number;
  /** Forgets what else belongs to a session that is erased. */
  readonly alsoForget?: (sessionId: string) => Promise<void>;
}

/** The moving service without protocols: real bus, journal, sessions and turns; model and tools are the test's. */
export class SessionRig {
  readonly model = new DirectedModel();
  readonly machines = new LiveMachines();
  readonly log = recordingLog();
  readonly bus = new LocalBus((error) => this.log.error({ err: error }, 'a listener failed'));
  readonly tools: DirectedTools;
  readonly store: WatchedStore;
  readonly snapshots: SessionSnapshots;
  readonly fold: SessionFold;
  readonly journal: Journal;
  readonly registry: SessionRegistry;

  constructor({
    store,
    snapshots,
    tools,
    policy,
    maxSteps = 10,
    stepTimeoutMs = 60_000,
    keepReasoning = false,
    callsEarly = false,
    maxIdleBytes = 64 * 1024 * 1024,
    maxWorkingBytes = Infinity,
    onFilling,
    sampling,
    approval = { rules: [], default: 'auto' },
    clock,
    now,
    elapsedMs,
    alsoForget,
  }: RigOptions = {}) {
    const { bus, log, model, machines } = this;
    this.tools = tools ?? new DirectedTools({});
    this.store = new WatchedStore(store ?? memoryEventStore());
    const supervisor = new McpSupervisor(
      { connector: this.tools, log, machines, retryDelayMs: () => 1_000 },
      serverBook(this.store),
    );
    const catalog = new ToolCatalog(
      supervisor.servers,
      {
        issueWith: async () => undefined,
        ofServer: async () => ({}),
        ofResult: async () => ({}),
        ofClient: async () => ({}),
      },
      {
        approval,
        clientTools: { expiresAfterMs: 3_600_000 },
        elicitation: { expiresAfterMs: 3_600_000 },
        roots: ['/work'],
        fileUrl: (path) => `file://${path}`,
        log,
      },
    );
    const limits = { historyTokens: 100_000, maxSteps, stepTimeoutMs };
    const settings = { systemPrompt: 'Be brief.', keepReasoning, callsEarly, ...limits };
    const turns = new TurnRunner({
      model,
      catalog,
      bus,
      log,
      machines,
      ...settings,
      ...(clock && { clock }),
    });
    this.journal = new Journal(this.store, bus);
    this.snapshots = new SessionSnapshots(snapshots ?? memorySnapshotStore(), log);
    const readers = new LogReaders(maxWorkingBytes);
    this.fold = new SessionFold({ journal: this.journal, snapshots: this.snapshots, readers });
    this.registry = new SessionRegistry({
      journal: this.journal,
      fold: this.fold,
      snapshots: this.snapshots,
      bus,
      turns,
      policy: policy ?? { queuedMessages: false, whenBusy: 'enqueue' },
      log,
      directory: oneProcess,
      maxIdleBytes,
      workingMemory: new WorkingMemory(maxWorkingBytes),
      ...(onFilling && { onFilling }),
      ...(clock && { clock }),
      ...(now && { now }),
      ...(elapsedMs && { elapsedMs }),
      ...(alsoForget && { alsoForget }),
    });
    if (tools) supervisor.start({ tools: { type: 'stdio', command: 'none', sampling } });
  }

  /** All that is heard of a session from now on. */
  listen(sessionId = 's'): SignalRecord {
    return new SignalRecord(this.bus, sessionId);
  }

  /** Says something in a session; resolves when it is in the log. */
  async say(
    text: string,
    {
      sessionId = 's',
      turnId = text,
      options,
    }: { sessionId?: string; turnId?: string; options?: TurnOptions } = {},
  ): Promise<void> {
    const message = { turnId, text, ...(options && { options }) };
    await this.registry.startTurn(sessionId, { type: 'turn.start', ...message }, CLIENT);
  }

  /** What the log says now. */
  async logged(sessionId = 's'): Promise<LoggedEvent[]> {
    return (await this.store.read(sessionId, 0)).map(({ event }) => event);
  }
}
