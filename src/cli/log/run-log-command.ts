import { listItems } from '../../runtime/sessions/session-archive.ts';
import { withTitles } from '../../runtime/sessions/session-titles.ts';
import type { CommandLine } from '../command-line.ts';
import { parseSessionId } from '../session-argument.ts';
import { exportSession } from '../transfer/export-session.ts';
import { openExport, readExport } from '../transfer/exported-session.ts';
import { importSession } from '../transfer/import-session.ts';
import { requireFolderName, withEventStore } from '../transfer/stored-log.ts';
import { print, printLines } from './print-lines.ts';

type OfKind<K extends CommandLine['kind']> = Extract<CommandLine, { kind: K }>;

/** The commands that work on an event log. */
export function runLogCommand(command: OfKind<'repair' | 'sessions' | 'export' | 'import'>): Promise<void> {
  switch (command.kind) {
    case 'repair':
      return repair(command);
    case 'sessions':
      return printSessions(command);
    case 'export':
      return printExport(command);
    case 'import':
      return importFile(command);
    default:
      return command satisfies never;
  }
}

/** Prints the report as JSON, and a summary for people beside it. */
async function repair({ dataDir, dryRun }: OfKind<'repair'>): Promise<void> {
  requireFolderName(dataDir);
  const { repairEventLog } = await import('../../adapters/sqlite/repair/repair-event-log.ts');
  const { repairSummary } = await import('./repair-summary.ts');
  const report = await repairEventLog(dataDir, { dryRun });
  await print([`${JSON.stringify(report, null, 2)}\n`]);
  process.stderr.write(`agent-service: ${repairSummary(report)}\n`);
}

/** Prints one line for each session, in the form of `GET /api/sessions`. */
async function printSessions({ log }: OfKind<'sessions'>): Promise<void> {
  if ('url' in log) {
    const { AnySession, listSessions } = await import('../service/session-resources.ts');
    return printLines(listSessions(log, AnySession));
  }
  return withEventStore(log, 'read', async (store) =>
    printLines(listItems(await withTitles(store, await store.sessions()))),
  );
}

async function printExport({ log, sessionId }: OfKind<'export'>): Promise<void> {
  const id = parseSessionId('session', sessionId);
  if ('url' in log) {
    const { downloadExport } = await import('../service/session-resources.ts');
    const { chunks } = await downloadExport(log, id);
    return print(chunks);
  }
  return withEventStore(log, 'read', (store) => print(exportSession(store, id)));
}

async function importFile({ log, file, sessionId }: OfKind<'import'>): Promise<void> {
  const as = sessionId === undefined ? undefined : parseSessionId('--session', sessionId);
  // Read the first line before the log is opened or created: most files that are not exports fail there.
  const session = await readExport(openExport(file));
  const imported = await withEventStore(log, 'create', (store) => importSession(store, session, as));
  const open = imported.open ? '; its open turn goes on when the service starts' : '';
  await print([`imported session ${imported.sessionId}: ${imported.events} events${open}\n`]);
}
