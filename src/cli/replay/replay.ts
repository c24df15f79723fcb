import { sealedBox } from '../../adapters/secret-key/sealed-box.ts';
import { secretKeys } from '../../app/adapters/secret-keys.ts';
import { readAgent } from '../../app/agents/read-agent.ts';
import { createJsonLogger } from '../../app/logger.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { type ReplayReport, replaySession } from '../../replay/replay-session.ts';
import type { ReplayedTurn } from '../../replay/turn-tally.ts';
import { ServerBook } from '../../runtime/tools/server-book.ts';
import type { CommandLine, RecordingPlace } from '../command-line.ts';
import type { RemoteService } from '../service/remote-service.ts';
import { parseSessionId } from '../session-argument.ts';
import { openExport, readExport } from '../transfer/exported-session.ts';
import { readSession, withEventStore } from '../transfer/stored-log.ts';
import { withLiveAgent } from './live-agent.ts';
import { describeReport, describeTurn } from './replay-output.ts';

type ReplayCommand = Extract<CommandLine, { kind: 'replay' }>;

interface Recording {
  readonly sessionId: SessionId;
  readonly events: readonly SessionEvent[];
  /** Tool servers that were connected at run time. */
  readonly atRunTime: Readonly<Record<string, McpServerConfig>>;
}

/** Replays a session and prints how it went. Exit code 1 when anything differs. */
export async function replay({ recording, agentFile, json }: ReplayCommand): Promise<void> {
  const log = createJsonLogger('error');
  const config = agentFile === undefined ? undefined : readAgent(agentFile, process.env).config;
  const { sessionId, events, atRunTime } = await readRecording(recording, config !== undefined, log);
  const onTurn = (turn: ReplayedTurn): void => {
    if (!json) process.stdout.write(describeTurn(turn));
  };
  const report = config
    ? await withLiveAgent({ config, atRunTime, log }, (live, store) =>
        replaySession(events, { store, log, live }, onTurn),
      )
    : await replayOffline(events, log, onTurn);
  const isSame = report.stateHash !== null && report.stateHash.recorded === report.stateHash.replayed;
  process.stdout.write(
    json ? `${JSON.stringify({ sessionId, same: isSame, ...report })}\n` : describeReport(report),
  );
  if (!isSame) process.exitCode = 1;
}

/** Loads nothing but a log in memory. */
async function replayOffline(
  events: readonly SessionEvent[],
  log: Logger,
  onTurn: (turn: ReplayedTurn) => void,
): Promise<ReplayReport> {
  const { memoryEventStore } = await import('../../adapters/memory/memory-event-store.ts');
  return replaySession(events, { store: memoryEventStore(), log }, onTurn);
}

/** @param isLive whether tool servers are needed, so that their stored configurations are decrypted. */
async function readRecording(place: RecordingPlace, isLive: boolean, log: Logger): Promise<Recording> {
  if ('file' in place) {
    const { sessionId, events } = await readExport(openExport(place.file));
    return { sessionId, events: await eventsOf(events), atRunTime: {} };
  }
  const sessionId = parseSessionId('session', place.sessionId);
  const { log: from } = place;
  if ('url' in from) return downloadRecording(from, sessionId);
  return withEventStore(from, 'read', async (store) => ({
    sessionId,
    events: await eventsOf(readSession(store, sessionId)),
    atRunTime: isLive ? await readServers(store, from.dataDir, log) : {},
  }));
}

/** A running service does not tell the configurations of its tool servers. */
async function downloadRecording(service: RemoteService, sessionId: SessionId): Promise<Recording> {
  const { downloadExport } = await import('../service/session-resources.ts');
  const { events } = await readExport(await downloadExport(service, sessionId));
  return { sessionId, events: await eventsOf(events), atRunTime: {} };
}

function readServers(store: EventStore, dataDir: string, log: Logger): Promise<Recording['atRunTime']> {
  return ServerBook.read(store, sealedBox(secretKeys({ dataDir, environment: process.env, log })));
}

async function eventsOf(envelopes: AsyncIterable<Envelope>): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const { event } of envelopes) events.push(event);
  return events;
}
