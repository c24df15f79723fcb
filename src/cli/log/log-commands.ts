import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { agentFileName, agentFileOf } from '../agent-argument.ts';
import type { Choose } from '../command-line.ts';
import {
  addPlace,
  addSource,
  defaultDataDir,
  type LogSource,
  type PlaceFlags,
  placeOf,
  sourceOf,
} from './log-place.ts';

/** The commands that work on an event log. Some of them also ask a running service. */
export function addLogCommands(program: Command, environment: Environment, choose: Choose): void {
  addRepair(program, environment, choose);
  addSessions(program, environment, choose);
  addExport(program, environment, choose);
  addImport(program, environment, choose);
  addReplay(program, environment, choose);
}

function addRepair(program: Command, environment: Environment, choose: Choose): void {
  program
    .command('repair')
    .description(
      'Copies the files of a damaged event log, then cuts each damaged session back to its last intact event. Turns that lose their end are cancelled.',
    )
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .option('--dry-run', 'print what a repair would do, and change nothing', false)
    .action(({ dataDir, dryRun }: { dataDir: string; dryRun: boolean }) =>
      choose({ kind: 'repair', dataDir, dryRun }),
    );
}

function addSessions(program: Command, environment: Environment, choose: Choose): void {
  const command = program
    .command('sessions')
    .description(
      'Lists the sessions as JSON Lines: of a running service with --url, else of the folder of one that is not running.',
    );
  addPlace(command, environment).action((flags: PlaceFlags) =>
    choose({ kind: 'sessions', log: placeOf(flags, command, environment) }),
  );
}

function addExport(program: Command, environment: Environment, choose: Choose): void {
  const command = program
    .command('export')
    .description(
      'Prints the events of a session as JSON Lines: of a running service with --url, else of the folder of one that is not running.',
    )
    .argument('<session>', 'id of the session');
  addPlace(command, environment).action((sessionId: string, flags: PlaceFlags) =>
    choose({ kind: 'export', log: placeOf(flags, command, environment), sessionId }),
  );
}

function addImport(program: Command, environment: Environment, choose: Choose): void {
  const command = program
    .command('import')
    .description('Stores an exported session. The service must not be running on the folder.')
    .argument('<file>', 'output of export; - for standard input')
    .option('--session <id>', 'id to store the session under; default: its own');
  addSource(command, environment).action(
    (file: string, { session: sessionId, ...source }: LogSource & { session?: string }) =>
      choose({ kind: 'import', log: sourceOf(source, command, environment), file, sessionId }),
  );
}

interface ReplayFlags extends PlaceFlags {
  readonly file?: string;
  readonly live?: boolean;
  readonly agent?: string;
  readonly json?: boolean;
}

function addReplay(program: Command, environment: Environment, choose: Choose): void {
  const replay = program
    .command('replay')
    .description(
      'Runs a recorded session again and compares every event. The recording supplies the replies of the model and the results of the tools; nothing outside is called. The session is in the folder of a service that is not running, in a running service (--url) or in a file (--file). Exit code 1 if anything differs.',
    )
    .argument('[session]', 'id of the session');
  addPlace(replay, environment)
    .option('--file <file>', 'output of export, - for standard input, instead of a session of the folder')
    .option(
      '--live',
      'ask the model of the agent file instead of the recording, until the first difference. Starts its tool servers, because the model is offered their tools, but calls no tool: the recording has the results. With --url or --file, only the servers of the agent file are known.',
    )
    .option('-a, --agent <file>', 'agent file (YAML) for --live', agentFileName)
    .option('--json', 'print one JSON object at the end instead of readable lines')
    .action((sessionId: string | undefined, flags: ReplayFlags, command: Command) => {
      const { file, live, agent, json = false, url } = flags;
      if ((sessionId === undefined) === (file === undefined))
        command.error('error: expected either the id of a session or --file with an export');
      if (file !== undefined && url !== undefined)
        command.error("error: option '--file' cannot be used with option '--url <url>'");
      if (agent !== undefined && !live)
        command.error(
          "error: option '--agent' needs '--live': a recording is replayed without an agent file",
        );
      const recording =
        file === undefined
          ? { log: placeOf(flags, command, environment), sessionId: sessionId ?? '' }
          : { file };
      const agentFile = agent ?? agentFileOf(environment);
      choose({ kind: 'replay', recording, json, ...(live && { agentFile }) });
    });
}
