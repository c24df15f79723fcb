import { SCHEMA_VERSION } from '../contract/envelope.ts';
import { SessionId } from '../contract/ids.ts';
import type { CommandLine } from './cli.ts';
import { createLog } from './logger.ts';
import { run } from './run.ts';

type Runnable = Exclude<CommandLine, { kind: 'exit' }>;

/** Does what the command line asks for. What goes wrong is told on one line, exit code 1. */
export async function runCommand(command: Runnable): Promise<void> {
  if (command.kind === 'run') return run(command);
  try {
    if (command.kind === 'repair') await repair(command.dataDir);
    else await exportSession(command.dataDir, command.sessionId);
  } catch (error) {
    process.stderr.write(`agent-service: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
  return undefined;
}

async function repair(dataDir: string): Promise<void> {
  const { repairEventLog } = await import('../adapters/sqlite/repair-event-log.ts');
  const report = await repairEventLog(dataDir);
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}

/** One envelope a line, each with the version of its schema. */
async function exportSession(dataDir: string, sessionId: string): Promise<void> {
  const id = SessionId.parse(sessionId, {
    error: ({ message }) => `session: ${message ?? 'is not a session id'}`,
  });
  const { openSqliteEventStore } = await import('../adapters/sqlite/sqlite-event-store.ts');
  const store = await openSqliteEventStore({ directory: dataDir, log: createLog('warn') });
  try {
    const pageEvents = 1_000;
    for (let after = 0; ; after += pageEvents) {
      const page = await store.read(id, after, pageEvents);
      if (page.length === 0 && after === 0) throw new Error(`there is no session ${id} in ${dataDir}`);
      for (const envelope of page)
        process.stdout.write(`${JSON.stringify({ v: SCHEMA_VERSION, ...envelope })}\n`);
      if (page.length < pageEvents) return;
    }
  } finally {
    await store[Symbol.asyncDispose]();
  }
}
