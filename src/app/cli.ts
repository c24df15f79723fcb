import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { logLevels } from '../contract/agent-config.ts';
import { addChat, type ChatOptions } from './chat/chat-command.ts';
import type { Environment } from './config/expand.ts';
import { addInit, type InitOptions } from './init/init-command.ts';
import { findPackageRoot, readPackageVersion } from './package-root.ts';
import { DEFAULT_DATA_DIR, type Flags, modes, transports } from './settings.ts';

/** Where a recorded session is. */
export type RecordingPlace =
  | { readonly dataDir: string; readonly sessionId: string }
  | { readonly file: string };

/** What the command line asks for. `exit` is all that ends before a service starts: help, version, errors. */
export type CommandLine =
  | { readonly kind: 'run'; readonly flags: Flags; readonly agentFile: string }
  | { readonly kind: 'repair'; readonly dataDir: string }
  | { readonly kind: 'sessions'; readonly dataDir: string }
  | { readonly kind: 'export'; readonly dataDir: string; readonly sessionId: string }
  | ({ readonly kind: 'chat' } & ChatOptions)
  | ({ readonly kind: 'init' } & InitOptions)
  | {
      readonly kind: 'import';
      readonly dataDir: string;
      readonly file: string;
      readonly sessionId: string | undefined;
    }
  | {
      readonly kind: 'replay';
      readonly recording: RecordingPlace;
      /** The agent to ask anew; left out when the recording answers. */
      readonly agentFile?: string;
      readonly json: boolean;
    }
  | {
      readonly kind: 'exit';
      readonly code: number;
      readonly output: string;
      readonly stream: 'stdout' | 'stderr';
    };

/**
 * Reads the command line; `args` are those after node and the script. Ends nothing and prints nothing:
 * that is left to main.
 */
export function parseCommandLine(args: readonly string[], environment: Environment): CommandLine {
  const written = { stdout: '', stderr: '' };
  let chosen: CommandLine | undefined;
  const choose = (command: CommandLine) => {
    chosen = command;
  };
  const program = new Command('agent-service')
    .exitOverride()
    // What stands after a subcommand belongs to it: some options are the service's own too.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => {
        written.stdout += text;
      },
      writeErr: (text) => {
        written.stderr += text;
      },
    })
    .showHelpAfterError('Run agent-service --help to see every option.')
    .version(readPackageVersion(), '-v, --version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit');
  // A subcommand is a function that adds itself to the program and calls `choose`.
  addRun(program, environment, choose);
  addRepair(program, environment, choose);
  addSessions(program, environment, choose);
  addExport(program, environment, choose);
  addImport(program, environment, choose);
  addReplay(program, environment, choose);
  addChat(program, (options) => choose({ kind: 'chat', ...options }));
  addInit(program, (options) => choose({ kind: 'init', ...options }));
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const stream = written.stderr === '' ? 'stdout' : 'stderr';
    return { kind: 'exit', code: error.exitCode, output: written[stream], stream };
  }
  if (chosen === undefined) throw new Error('a command was parsed, but none was chosen');
  return chosen;
}

/** Without a subcommand: run the service. The values of flags are checked together with the other settings. */
function addRun(program: Command, environment: Environment, choose: Choose): void {
  program
    .description('Runs one conversational agent behind REST, WebSocket and MCP.')
    .option(
      '-a, --agent <file>',
      'agent file (YAML); default: the agent that comes with the package',
      fileName,
    )
    .option(
      '-m, --mode <mode>',
      `${modes.join(' or ')}; mcp serves MCP and health checks alone; default: web`,
    )
    .option('-p, --web-port <port>', 'port to listen on, 0 for a free one; default: 3001')
    .option('--host <address>', 'address to listen on; default: 127.0.0.1, this machine only')
    .option('--data-dir <dir>', 'folder of the event log, :memory: for none; default: ./.agent-service')
    .option('--log-level <level>', `${logLevels.join(', ')}; default: info`)
    .option(
      '--transport <transport>',
      `${transports.join(' or ')}; stdio speaks MCP on stdin and stdout, in mcp mode`,
    )
    .option('--inspect', 'serve the XState inspector at /inspect, for this machine: states, no contents')
    .option('--inspect-content', 'the same, with what messages and tools say')
    .allowExcessArguments(false)
    .addHelpText('after', examples)
    .action((options: Flags & { agent?: string }) => {
      const { agent, ...flags } = options;
      choose({ kind: 'run', flags, agentFile: agent ?? agentFileOf(environment) });
    });
}

type Choose = (command: CommandLine) => void;

function addRepair(program: Command, environment: Environment, choose: Choose): void {
  program
    .command('repair')
    .description(
      'Cuts the sessions of a damaged event log back to their last whole event, after a copy of its files.',
    )
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .action((options: { dataDir: string }) => choose({ kind: 'repair', dataDir: options.dataDir }));
}

function addSessions(program: Command, environment: Environment, choose: Choose): void {
  program
    .command('sessions')
    .description('Lists the sessions as JSON Lines. The service must not be running on the folder.')
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .action((options: { dataDir: string }) => choose({ kind: 'sessions', dataDir: options.dataDir }));
}

function addExport(program: Command, environment: Environment, choose: Choose): void {
  program
    .command('export')
    .description(
      'Prints the events of a session as JSON Lines. The service must not be running on the folder.',
    )
    .argument('<session>', 'id of the session')
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .action((sessionId: string, options: { dataDir: string }) =>
      choose({ kind: 'export', dataDir: options.dataDir, sessionId }),
    );
}

function addImport(program: Command, environment: Environment, choose: Choose): void {
  program
    .command('import')
    .description('Stores an exported session. The service must not be running on the folder.')
    .argument('<file>', 'what export printed, - for standard input')
    .option('--session <id>', 'id to store it under; default: the one it had')
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .action((file: string, { dataDir, session: sessionId }: { dataDir: string; session?: string }) =>
      choose({ kind: 'import', dataDir, file, sessionId }),
    );
}

interface ReplayFlags {
  readonly dataDir: string;
  readonly file?: string;
  readonly live?: boolean;
  readonly agent?: string;
  readonly json?: boolean;
}

function addReplay(program: Command, environment: Environment, choose: Choose): void {
  program
    .command('replay')
    .description(
      'Runs a recorded session again, with the model and tool results of the recording and no call to the outside, and compares every event. The service must not be running on the folder. Exit code 1 when anything differs.',
    )
    .argument('[session]', 'id of the session')
    .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
    .option('--file <file>', 'what export printed, - for standard input, instead of a session of the folder')
    .option(
      '--live',
      'ask the model of the agent file instead of the recording, until it does anything else. Its tool servers are started, because the model is offered their tools, but no tool is called: the recording answers.',
    )
    .option('-a, --agent <file>', 'agent file (YAML) for --live', fileName)
    .option('--json', 'print one JSON object at the end instead of lines for people')
    .action((sessionId: string | undefined, flags: ReplayFlags, command: Command) => {
      const { dataDir, file, live, agent, json = false } = flags;
      if ((sessionId === undefined) === (file === undefined))
        command.error('error: expected the id of a session, or --file with an export, and not both');
      if (agent !== undefined && !live)
        command.error(
          "error: option '--agent' needs '--live': a recording is replayed without an agent file",
        );
      const recording = file === undefined ? { dataDir, sessionId: sessionId ?? '' } : { file };
      const agentFile = agent ?? agentFileOf(environment);
      choose({ kind: 'replay', recording, json, ...(live && { agentFile }) });
    });
}

function defaultDataDir(environment: Environment): string {
  return environment.AGENT_SERVICE_DATA_DIR || DEFAULT_DATA_DIR;
}

function agentFileOf(environment: Environment): string {
  return environment.AGENT_SERVICE_AGENT || defaultAgentFile();
}

function fileName(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected the path of a YAML file.');
  return text;
}

/** An agent that needs neither key nor network. */
export function defaultAgentFile(): string {
  return join(findPackageRoot(), 'agents', 'default.yml');
}

const examples = `
Every option has a variable too: AGENT_SERVICE_MODE, AGENT_SERVICE_WEB_PORT (or PORT), AGENT_SERVICE_AGENT,
AGENT_SERVICE_HOST, AGENT_SERVICE_DATA_DIR, AGENT_SERVICE_LOG_LEVEL, AGENT_SERVICE_TRANSPORT.
A flag wins over its variable, that over the agent file, that over the default.

Examples:
  $ agent-service --mode web --web-port 3001 --agent agents/openai.yml
  $ agent-service --mode mcp --transport stdio --agent agents/researcher.yml
`;
