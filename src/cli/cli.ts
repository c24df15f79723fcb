import { existsSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { readPackageVersion } from '../app/package-root.ts';
import { firstGiven, ofVariable } from '../config/given.ts';
import { closest } from '../config/problems/closest.ts';
import type { Environment } from '../config/reading/expand.ts';
import { logLevels } from '../config/schema/agent-config.ts';
import { type Flags, modes, transports } from '../config/settings.ts';
import { agentFileName } from './agent-argument.ts';
import { addAudit } from './audit/audit-command.ts';
import { addBackup } from './backup/backup-command.ts';
import { addChat } from './chat/chat-command.ts';
import { addCheck } from './check/check-command.ts';
import type { Choose, CommandLine } from './command-line.ts';
import { addCopy } from './copy/copy-command.ts';
import { addInit } from './init/init-command.ts';
import { addKeys } from './keys/keys-command.ts';
import { addLogCommands } from './log/log-commands.ts';

/**
 * Parses the command line. Neither prints nor exits; the caller does.
 *
 * @param args those after node and the script.
 */
export function parseCommandLine(args: readonly string[], environment: Environment): CommandLine {
  const written = { stdout: '', stderr: '' };
  let chosen: CommandLine | undefined;
  const choose = (command: CommandLine) => {
    chosen = command;
  };
  const program = new Command('agent-service')
    .exitOverride()
    // Options after a subcommand belong to it, although the service has some options of the same name.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => {
        written.stdout += text;
      },
      writeErr: (text) => {
        written.stderr += withoutPassword(text);
      },
    })
    .version(readPackageVersion(), '-v, --version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .helpCommand('help [command]', 'Prints the help of a command.');
  // Each of these adds a subcommand that calls `choose`. The help lists them in this order: new users begin at its top.
  addInit(program, (options) => choose({ kind: 'init', ...options }));
  addCheck(program, environment, (options) => choose({ kind: 'check', ...options }));
  addChat(program, environment, (options) => choose({ kind: 'chat', ...options }));
  addKeys(program, environment, (options) => choose({ kind: 'keys', ...options }));
  addAudit(program, environment, (options) => choose({ kind: 'audit', ...options }));
  addLogCommands(program, environment, choose);
  addBackup(program, environment, (options) => choose({ kind: 'backup', ...options }));
  addCopy(program, (options) => choose({ kind: 'copy', ...options }));
  program
    .command('example-tools')
    .description('Serves a few tools to try an agent with: an MCP server on standard input and output.')
    .action(() => choose({ kind: 'example-tools' }));
  for (const command of withSubcommands(program)) command.showHelpAfterError(helpHint(command));
  // Last, because subcommands added later would inherit `allowExcessArguments`.
  addRun(program, environment, choose);
  try {
    refuseUnknownHelp(program, args);
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const stream = written.stderr === '' ? 'stdout' : 'stderr';
    return { kind: 'exit', code: error.exitCode, output: written[stream], stream };
  }
  if (chosen === undefined) throw new Error('a command was parsed, but none was chosen');
  return chosen;
}

/** Commander repeats a refused argument, which may be an address with a user and a password. */
function withoutPassword(text: string): string {
  return text.replace(/:\/\/.*@/g, '://…@');
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** As it is typed, such as `agent-service keys list`. */
function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

function helpHint(command: Command): string {
  const { registeredArguments } = command;
  const called = fullName(command);
  const takesId = registeredArguments.some((argument) => argument.name() === 'session');
  const dash = takesId ? ' Put -- before a session id that begins with a dash.' : '';
  return `Run ${called} --help to see every option.${dash}`;
}

/** Without a subcommand the service runs. `resolveSettings` checks the values of the flags. */
function addRun(program: Command, environment: Environment, choose: Choose): void {
  program
    .description(
      'Runs conversational agents behind REST, WebSocket, MCP, A2A, AG-UI and the interface of OpenAI.',
    )
    .option(
      '-a, --agent <file>',
      'agent file (YAML); default: the agent that comes with the package',
      agentFileName,
    )
    .option(
      '-c, --config <file>',
      'service file (YAML): who may use the service; default: none',
      agentFileName,
    )
    .option(
      '-m, --mode <mode>',
      `${modes.join(' or ')}; mcp serves only MCP, the probes and /metrics; default: web`,
    )
    .option('-p, --web-port <port>', 'port to listen on, 0 for a free one; default: 3001')
    .option('--host <address>', 'address to listen on; default: 127.0.0.1, this machine only')
    .option('--data-dir <dir>', 'folder of the event log, :memory: for none; default: ./.agent-service')
    .option(
      '--store <url>',
      'PostgreSQL database for the event log, postgres://…; default: none, the log is in the data directory',
    )
    .option(
      '--bus <url>',
      'NATS servers, nats://…, over which services that share the database of --store hear of each other; default: none, one service uses it',
    )
    .option('--standby', 'wait while another service uses the database, and follow it when it ends')
    .option('--log-level <level>', `${logLevels.join(', ')}; default: info`)
    .option(
      '--transport <transport>',
      `${transports.join(' or ')}; stdio speaks MCP on stdin and stdout, in mcp mode`,
    )
    .option('--insecure', 'let other machines reach the service although nobody is authenticated')
    .option('--inspect', 'serve the XState inspector at /inspect to this machine, without message contents')
    .option('--inspect-content', 'the same, with the contents of messages and tools')
    .addOption(new Option('--port <port>').hideHelp().argParser(refusePort))
    .allowExcessArguments()
    .hook('preSubcommand', refuseMisplaced)
    .addHelpText('after', examples)
    .action((options: Flags & { agent?: string; config?: string }) => {
      const [found] = program.args;
      if (found !== undefined) refuseUnknown(program, found);
      const { agent, config, ...flags } = options;
      choose({
        kind: 'run',
        flags,
        agentFile: firstGiven(
          { name: '--agent', value: agent },
          ofVariable(environment, 'AGENT_SERVICE_AGENT'),
        ),
        serviceFile: config ?? (environment.AGENT_SERVICE_CONFIG || undefined),
      });
    });
}

/** Many people guess `--port`, for which commander would suggest `--host`. */
function refusePort(): never {
  throw new InvalidArgumentError('Use --web-port.');
}

/** Refuses an option before a command. Commander would read it as an option of the service and ignore it. */
function refuseMisplaced(program: Command, command: Command): void {
  const option = program.options.find(
    (candidate) => program.getOptionValueSource(candidate.attributeName()) === 'cli',
  );
  if (option)
    program.error(
      `error: option '${option.long}' stands before the command '${command.name()}'; the options of a command come after it`,
    );
}

/** For a command that does not exist, commander would print the help of the service. */
function refuseUnknownHelp(program: Command, [first, second]: readonly string[]): void {
  const isFlag = second === '--help' || second === '-h';
  const named = first === 'help' ? second : isFlag ? first : undefined;
  if (named === undefined || named.startsWith('-')) return;
  if (program.commands.every((command) => command.name() !== named)) refuseUnknown(program, named);
}

/** Refuses an argument that is not a command. */
function refuseUnknown(program: Command, found: string): never {
  const known = program.commands.map((command) => command.name());
  const meant = /\.ya?ml$/.test(found) ? `--agent ${found}` : closest(found, known);
  const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean "${meant}"?`;
  return program.error(`error: unknown command '${found}'; ${hint}`, { exitCode: 1 });
}

const environmentHelp = `
Every option has a variable too: AGENT_SERVICE_MODE, AGENT_SERVICE_WEB_PORT (or PORT), AGENT_SERVICE_AGENT,
AGENT_SERVICE_HOST, AGENT_SERVICE_DATA_DIR, AGENT_SERVICE_LOG_LEVEL, AGENT_SERVICE_TRANSPORT,
AGENT_SERVICE_INSPECT (states or content), AGENT_SERVICE_CONFIG, AGENT_SERVICE_INSECURE (1),
AGENT_SERVICE_STORE, AGENT_SERVICE_BUS, AGENT_SERVICE_STANDBY (1).
A flag wins over its variable, the variable over the agent file, and the agent file over the default.
`;

/** Examples that work where the help is read: in a clone, or in any other folder. */
function examples(): string {
  const lines = existsSync('agents/openai.yml') ? inClone : anywhere;
  return `${environmentHelp}\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}

const inClone = [
  'npm start',
  'npm start -- --agent agents/openai.yml --web-port 3001',
  'npx agent-service --mode mcp --transport stdio --agent agents/researcher.yml',
  'npx agent-service chat',
];

const anywhere = [
  'npx agent-service                    # the agent that comes with the package, without a key',
  'npx agent-service init               # asks for a model, writes agent.yml',
  'npx agent-service --agent agent.yml --web-port 3001',
  'npx agent-service --mode mcp --transport stdio --agent agent.yml',
  'npx agent-service chat               # in a second terminal',
];
