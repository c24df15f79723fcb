import { describe, expect, it } from 'vitest';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { parseCommandLine } from '../../../src/cli/cli.ts';
import type { CommandLine } from '../../../src/cli/command-line.ts';

/** Commands that read or change a log. */
const OF_LOGS = [
  ['sessions'],
  ['export', 's'],
  ['replay', 's'],
  ['import', 'a'],
  ['audit'],
  ['keys', 'list'],
];

function exitOf(...args: string[]): Extract<CommandLine, { kind: 'exit' }> {
  const command = parseCommandLine(args, {});
  if (command.kind !== 'exit') throw new Error('expected the command line to end');
  return command;
}

function agentFileOf(args: string[], environment: Record<string, string> = {}) {
  const command = parseCommandLine(args, environment);
  if (command.kind !== 'run') throw new Error('expected the command line to run the service');
  return command.agentFile;
}

describe('the command line', () => {
  it('gives back the flags as they were typed, and only those', () => {
    const args =
      '--mode mcp --web-port=5 --agent x.yml --transport stdio --host h --data-dir d --log-level debug';
    expect(parseCommandLine(args.split(' '), {})).toEqual({
      kind: 'run',
      agentFile: { name: '--agent', value: 'x.yml' },
      serviceFile: undefined,
      flags: { mode: 'mcp', webPort: '5', transport: 'stdio', host: 'h', dataDir: 'd', logLevel: 'debug' },
    });
    expect(parseCommandLine([], {})).toMatchObject({ kind: 'run', flags: {} });
  });

  it('takes the agent from the flag, else from the environment', () => {
    const environment = { AGENT_SERVICE_AGENT: 'env.yml' };
    expect(agentFileOf(['--agent', 'flag.yml'], environment)).toEqual({ name: '--agent', value: 'flag.yml' });
    expect(agentFileOf([], environment)).toEqual({ name: 'AGENT_SERVICE_AGENT', value: 'env.yml' });
    expect(agentFileOf([], { AGENT_SERVICE_AGENT: '' })).toBeUndefined();
  });

  it('takes what the commands for the data of a stopped service are told', () => {
    const environment = { AGENT_SERVICE_DATA_DIR: 'env' };
    expect(parseCommandLine(['sessions', '--data-dir', 'd'], environment)).toEqual({
      kind: 'sessions',
      log: { dataDir: 'd' },
    });
    expect(parseCommandLine(['export', 's'], environment)).toEqual({
      kind: 'export',
      sessionId: 's',
      log: { dataDir: 'env' },
    });
    expect(parseCommandLine(['import', '-'], {})).toEqual({
      kind: 'import',
      file: '-',
      sessionId: undefined,
      log: { dataDir: './.agent-service' },
    });
    expect(parseCommandLine(['import', 'a.jsonl', '--session', 't'], environment)).toMatchObject({
      file: 'a.jsonl',
      sessionId: 't',
    });
  });

  it('takes what the commands for API keys are told, and the key from the environment', () => {
    const environment = { AGENT_SERVICE_DATA_DIR: 'env', AGENT_SERVICE_KEY: 'as_env' };
    const keys = (...args: string[]) => parseCommandLine(['keys', ...args], environment);
    const create = ['create', '--name', 'ci', '--role', 'user', '--role', 'approver', '--expires', '90d'];
    expect(keys(...create, '--tenant', 'acme')).toEqual({
      kind: 'keys',
      log: { dataDir: 'env' },
      action: {
        do: 'create',
        name: 'ci',
        roles: ['user', 'approver'],
        tenant: 'acme',
        expires: '90d',
        inFolder: false,
      },
    });
    expect(keys(...create, '--config', 'service.yml')).toMatchObject({
      action: { serviceFile: 'service.yml' },
    });
    const remote = { kind: 'keys', log: { url: 'http://host:1', token: 'as_flag' } };
    expect(keys('list', '--json', '--url', 'http://host:1', '--key', 'as_flag')).toEqual({
      ...remote,
      action: { do: 'list', json: true },
    });
    expect(keys('revoke', 'c1Q3mJr7', '--data-dir', 'd')).toMatchObject({
      log: { dataDir: 'd' },
      action: { do: 'revoke', keyId: 'c1Q3mJr7' },
    });
  });

  it('replays from the recording alone, unless it is told to ask the agent', () => {
    const environment = { AGENT_SERVICE_AGENT: 'env.yml' };
    const replay = (...args: string[]) => parseCommandLine(['replay', ...args], environment);
    const stored = { log: { dataDir: 'd' }, sessionId: 's' };
    expect(replay('s', '--data-dir', 'd')).toEqual({ kind: 'replay', recording: stored, json: false });
    const live = { kind: 'replay', recording: stored, json: true, agentFile: 'env.yml' };
    expect(replay('s', '--data-dir', 'd', '--live', '--json')).toEqual(live);
    expect(replay('s', '--live', '--agent', 'flag.yml')).toMatchObject({ agentFile: 'flag.yml' });
    const remote = { log: { url: 'http://host:1' }, sessionId: 's' };
    expect(replay('s', '--url', 'http://host:1')).toMatchObject({ recording: remote });
    expect(replay('--file', '-')).toMatchObject({ recording: { file: '-' } });
  });

  it.each([
    [['replay', 's', '--agent', 'flag.yml'], "option '--agent' needs '--live'"],
    [['replay'], 'expected either the id of a session or --file'],
    [['replay', 's', '--file', 'x.jsonl'], 'expected either the id of a session or --file'],
  ])('refuses %j, which contradicts itself', (args, message) => {
    const { code, stream, output } = exitOf(...args);
    expect([code, stream]).toEqual([1, 'stderr']);
    expect(output).toContain(message);
  });

  it('prints help to stdout with every option and an example, and ends well', () => {
    const { code, stream, output } = exitOf('--help');
    expect([code, stream]).toEqual([0, 'stdout']);
    for (const flag of [
      'mode',
      'web-port',
      'agent',
      'host',
      'data-dir',
      'log-level',
      'transport',
      'version',
      'help',
    ]) {
      expect(output).toContain(`--${flag}`);
    }
    expect(output).toContain('AGENT_SERVICE_INSPECT (states or content)');
    expect(output).toContain('$ npm start -- --agent agents/openai.yml');
  });

  it('prints the version of the package', () => {
    expect(exitOf('--version')).toEqual({
      kind: 'exit',
      code: 0,
      stream: 'stdout',
      output: `${readPackageVersion()}\n`,
    });
  });

  it.each([
    [['--web-prt', '1'], '(Did you mean --web-port?)'],
    [['--mode'], "option '-m, --mode <mode>' argument missing"],
    [['agent.yml'], 'unknown command \'agent.yml\'; did you mean "--agent agent.yml"?'],
    [['exprot', 's'], 'unknown command \'exprot\'; did you mean "export"?'],
    [['export', '-dash'], 'Put -- before a session id that begins with a dash.'],
    [['replay', '-dash'], 'Put -- before a session id that begins with a dash.'],
    [['--agent', ''], 'Expected the path of a YAML file.'],
    [['init', ''], 'Expected the path of a YAML file.'],
    [['--port', '80'], 'Use --web-port.'],
    // Whoever forgets the option would have another log repaired than the one that was named.
    [['repair', 'there'], "too many arguments for 'repair'"],
    [['sessions', 'there'], "too many arguments for 'sessions'"],
    [['export', 's', 't'], "too many arguments for 'export'"],
    [['import', 'a', 'b'], "too many arguments for 'import'"],
    [['chat', 'hello'], "too many arguments for 'chat'"],
    [['keys', 'list', 'x'], "too many arguments for 'list'"],
    [['keys', 'create', '--name', 'ci'], "required option '--role <role>' not specified"],
    [['keys', 'list', '--key', 'as_x'], "option '--key' needs '--url'"],
    [['sessions', '--key', 'as_x'], "option '--key' needs '--url'"],
    [
      [...'keys create --name ci --role x --url http://h -c s.yml'.split(' ')],
      "cannot be used with option '--url <url>'",
    ],
    [['sessions', '--url', 'http://:s3cr3t@h'], 'Expected an address without user and password; give a key'],
    [['keys', 'lst'], "unknown command 'lst'"],
    [
      ['keys', 'list', '--url', 'http://h', '--data-dir', 'd'],
      "cannot be used with option '--data-dir <dir>'",
    ],
    [['--data-dir', 'there', 'import', 'a'], "option '--data-dir' stands before the command 'import'"],
  ])('refuses %j on stderr and points at the help', (args, message) => {
    const { code, stream, output } = exitOf(...args);
    expect([code, stream]).toEqual([1, 'stderr']);
    expect(output).toContain(message);
    expect(output).toMatch(/Run agent-service (\w+ )*--help/);
  });

  it.each([
    [['sessions', '--url', 'http://ada:s3c@r3t@host']],
    [['copy', '--from', 'mysql://ada:s3c@r3t@host/db', '--to', 'd']],
    [['sessions', 'postgres://ada:s3c@r3t@host/db']],
    [['postgres://ada:s3c@r3t@host/db']],
  ])('does not repeat the password of a refused address: %j', (args) => {
    const { code, output } = exitOf(...args);
    expect(code).toBe(1);
    expect(output).not.toMatch(/ada|s3c|r3t/);
  });

  it('points at the help of the command that was meant, which also `help` prints', () => {
    expect(exitOf('export', 's', 't').output).toContain('Run agent-service export --help');
    expect(exitOf('help', 'export')).toEqual(exitOf('export', '--help'));
    expect(exitOf('help')).toEqual(exitOf('--help'));
    expect(exitOf('help', 'keys').output).toContain('revoke');
  });

  it('does not print the help of a command that there is not', () => {
    const { code, stream, output } = exitOf('help', 'exprot');
    expect([code, stream]).toEqual([1, 'stderr']);
    expect(output).toContain('unknown command \'exprot\'; did you mean "export"?');
    expect(exitOf('help', 'foo').output).toContain("unknown command 'foo'; there are init, check, chat,");
    for (const flag of ['--help', '-h']) expect(exitOf('exprot', flag)).toEqual(exitOf('help', 'exprot'));
  });

  it('takes a folder beside a database only where the folder has what is needed', () => {
    const both = ['--store', 'postgres://db/agents', '--data-dir', 'd'];
    for (const args of OF_LOGS) {
      const { code, output } = exitOf(...args, ...both);
      expect(code).toBe(1);
      expect(output).toContain("option '--store <url>' cannot be used with option '--data-dir <dir>'");
    }
    // The key of the secrets of its tool servers is in the folder.
    expect(parseCommandLine(['replay', 's', '--live', ...both], {})).toMatchObject({
      recording: { log: { dataDir: 'd', store: 'postgres://db/agents' } },
    });
    expect(
      parseCommandLine(['sessions', '--store', 'postgres://db/agents'], { AGENT_SERVICE_DATA_DIR: 'd' }),
    ).toMatchObject({
      log: { store: 'postgres://db/agents' },
    });
  });

  it('takes a typed folder rather than the database of a variable', () => {
    const environment = { AGENT_SERVICE_STORE: 'postgres://db/agents' };
    const logOf = (...args: string[]): unknown => {
      const command = parseCommandLine(args, environment);
      if ('recording' in command) return 'log' in command.recording ? command.recording.log : undefined;
      return 'log' in command ? command.log : undefined;
    };
    const keys = [
      ['keys', 'create', '--name', 'ci', '--role', 'user'],
      ['keys', 'revoke', 'k'],
    ];
    for (const args of [...OF_LOGS, ...keys]) {
      expect(logOf(...args)).toMatchObject({ store: 'postgres://db/agents' });
      expect(logOf(...args, '--data-dir', 'd')).toEqual({ dataDir: 'd' });
    }
    expect(logOf('replay', 's', '--live', '--data-dir', 'd')).toEqual({
      dataDir: 'd',
      store: 'postgres://db/agents',
    });
  });

  it('says which agent `check` tries', () => {
    const { output } = exitOf('check', '--help');
    expect(output.replaceAll(/\s+/g, ' ')).toContain(
      'default: AGENT_SERVICE_AGENT, else the agent that comes with the package',
    );
  });
});
