import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../contract/errors.ts';
import { listItems } from '../runtime/session-archive.ts';
import type { CommandLine } from './command-line.ts';
import { replay } from './replay.ts';
import { run } from './run.ts';
import { parseSessionId } from './session-argument.ts';
import { withEventStore } from './transfer/data-directory.ts';
import { exportSession } from './transfer/export-session.ts';
import { openExport, readExport } from './transfer/exported-session.ts';
import { importSession } from './transfer/import-session.ts';

type Runnable = Exclude<CommandLine, { kind: 'exit' }>;
type OfKind<K extends Runnable['kind']> = Extract<Runnable, { kind: K }>;

/** Does what the command line asks for. What goes wrong is told on one line, exit code 1. */
export async function runCommand(command: Runnable): Promise<void> {
  try {
    await perform(command);
  } catch (error) {
    process.stderr.write(`agent-service: ${messageOf(error)}\n`);
    process.exitCode = 1;
    // What a start has begun, such as the thread of the log, would keep the process alive.
    if (command.kind === 'run') process.exit();
  }
}

function perform(command: Runnable): Promise<void> {
  switch (command.kind) {
    case 'run':
      return run(command);
    case 'repair':
      return repair(command);
    case 'sessions':
      return printSessions(command);
    case 'export':
      return printExport(command);
    case 'import':
      return importFile(command);
    case 'replay':
      return replay(command);
    case 'chat':
      return chat(command);
    case 'init':
      return init(command);
    default:
      return command satisfies never;
  }
}

async function chat(options: OfKind<'chat'>): Promise<void> {
  const { runChat } = await import('./chat/run-chat.ts');
  process.exitCode = await runChat(options);
}

async function init(options: OfKind<'init'>): Promise<void> {
  const { runInit } = await import('./init/run-init.ts');
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  await print([await runInit(options, isTerminal)]);
}

async function repair({ dataDir }: OfKind<'repair'>): Promise<void> {
  const { repairEventLog } = await import('../adapters/sqlite/repair-event-log.ts');
  const report = await repairEventLog(dataDir);
  await print([`${JSON.stringify(report, null, 2)}\n`]);
}

/** Each on a line, as `GET /api/sessions` has it. */
async function printSessions({ dataDir }: OfKind<'sessions'>): Promise<void> {
  await withEventStore(dataDir, 'read', async (store) => {
    const items = listItems(await store.sessions());
    await print(items.map((item) => `${JSON.stringify(item)}\n`));
  });
}

async function printExport({ dataDir, sessionId }: OfKind<'export'>): Promise<void> {
  const id = parseSessionId('session', sessionId);
  await withEventStore(dataDir, 'read', (store) => print(exportSession(store, id)));
}

async function importFile({ dataDir, file, sessionId }: OfKind<'import'>): Promise<void> {
  const as = sessionId === undefined ? undefined : parseSessionId('--session', sessionId);
  // Before the log is opened, or made: most files that are no exports show it on the first line.
  const session = await readExport(openExport(file));
  const imported = await withEventStore(dataDir, 'write', (store) => importSession(store, session, as));
  const open = imported.open ? '; its open turn goes on when the service starts' : '';
  await print([`imported session ${imported.sessionId}: ${imported.events} events${open}\n`]);
}

/** No faster than it is taken. */
function print(pieces: Iterable<string> | AsyncIterable<string>): Promise<void> {
  return pipeline(Readable.from(pieces), process.stdout, { end: false });
}
