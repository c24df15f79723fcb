import { closest } from './problems/closest.ts';
import type { Environment } from './reading/expand.ts';
import { logLevels, type ServerConfig } from './schema/agent-config.ts';
import type { ServiceConfig } from './schema/service-config.ts';

export const modes = ['web', 'mcp'] as const;
export const transports = ['http', 'stdio'] as const;
const inspections = ['states', 'content'] as const;
const switches = ['1', '0', 'true', 'false'] as const;
export const DEFAULT_DATA_DIR = './.agent-service';
export type LogLevel = (typeof logLevels)[number];

/** The settings of the process, independent of the agent. */
export interface Settings {
  readonly mode: (typeof modes)[number];
  /** How MCP is served. `stdio` needs mcp mode. */
  readonly transport: (typeof transports)[number];
  readonly port: number;
  readonly host: string;
  /** `:memory:` keeps nothing on disk. */
  readonly dataDir: string;
  /** The address of the database that has the event log, with its password. Undefined: it is in `dataDir`. */
  readonly store: string | undefined;
  /** Where several services that share the log hear of each other. Undefined: one service has the log. */
  readonly bus: string | undefined;
  /** Whether to wait while another service has the log of the database. */
  readonly standby: boolean;
  readonly logLevel: LogLevel;
  /** Whether `/inspect` shows the states of the machines only, or also the content of messages and tools. */
  readonly inspect: (typeof inspections)[number] | undefined;
  /** The token with which inspectors on other machines are admitted. */
  readonly inspectToken: string | undefined;
  /** Whether other machines may reach the service although nobody is authenticated. */
  readonly insecure: boolean;
}

/** The flags of the command line as they were typed. */
export type Flags = Readonly<
  Partial<
    Record<'mode' | 'transport' | 'webPort' | 'host' | 'dataDir' | 'store' | 'bus' | 'logLevel', string>
  >
> & {
  readonly inspect?: boolean;
  readonly inspectContent?: boolean;
  readonly insecure?: boolean;
  readonly standby?: boolean;
};

export interface SettingsSources {
  readonly flags: Flags;
  readonly environment: Environment;
  /** The `server` part of the agent file. */
  readonly yaml: Pick<ServerConfig, 'port' | 'host' | 'dataDir' | 'logLevel'>;
  /** The service file. */
  readonly service?: Pick<ServiceConfig, 'store' | 'bus'>;
}

/** A flag or variable has an invalid value. The message names it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** A flag wins over a variable, a variable over the agent file, and the agent file over the default. */
export function resolveSettings({ flags, environment, yaml, service = {} }: SettingsSources): Settings {
  const choose = (flag: Given, ...variables: string[]): Given | undefined =>
    [flag, ...variables.map((name): Given => ({ name, value: environment[name] || undefined }))].find(
      ({ value }) => value !== undefined,
    );
  const mode = choose({ name: '--mode', value: flags.mode }, 'AGENT_SERVICE_MODE');
  const transport = choose({ name: '--transport', value: flags.transport }, 'AGENT_SERVICE_TRANSPORT');
  const port = choose({ name: '--web-port', value: flags.webPort }, 'AGENT_SERVICE_WEB_PORT', 'PORT');
  const host = choose({ name: '--host', value: flags.host }, 'AGENT_SERVICE_HOST');
  const dataDir = choose({ name: '--data-dir', value: flags.dataDir }, 'AGENT_SERVICE_DATA_DIR');
  const store = choose({ name: '--store', value: flags.store }, 'AGENT_SERVICE_STORE');
  const bus = choose({ name: '--bus', value: flags.bus }, 'AGENT_SERVICE_BUS');
  const logLevel = choose({ name: '--log-level', value: flags.logLevel }, 'AGENT_SERVICE_LOG_LEVEL');
  const inspected = flags.inspectContent ? 'content' : flags.inspect ? 'states' : undefined;
  const inspect = choose({ name: '--inspect', value: inspected }, 'AGENT_SERVICE_INSPECT');
  const settings: Settings = {
    mode: parseOption(mode, modes) ?? 'web',
    transport: parseOption(transport, transports) ?? 'http',
    port: parsePort(port) ?? yaml.port ?? 3001,
    host: parseText(host, 'an address such as 127.0.0.1') ?? yaml.host ?? '127.0.0.1',
    dataDir: parseText(dataDir, 'a folder, or :memory:') ?? yaml.dataDir ?? DEFAULT_DATA_DIR,
    store: store?.value ?? service.store,
    bus: bus?.value ?? service.bus,
    logLevel: parseOption(logLevel, logLevels) ?? yaml.logLevel ?? 'info',
    inspect: parseOption(inspect, inspections),
    inspectToken: environment.AGENT_SERVICE_INSPECT_TOKEN || undefined,
    standby: flags.standby ?? isOn(environment, 'AGENT_SERVICE_STANDBY'),
    insecure: flags.insecure ?? isOn(environment, 'AGENT_SERVICE_INSECURE'),
  };
  if (settings.transport === 'stdio' && settings.mode !== 'mcp') {
    throw new SettingsError(
      `${transport?.name}: found "stdio" in ${settings.mode} mode; expected --mode mcp with it`,
    );
  }
  if (settings.standby && settings.store === undefined)
    throw new SettingsError('--standby: there is nothing to wait for without --store');
  if (settings.bus !== undefined && settings.store === undefined)
    throw new SettingsError(
      '--bus: there is nothing to share without --store postgres://…: several services need one database for what is true',
    );
  if (settings.bus !== undefined && settings.standby)
    throw new SettingsError(
      '--standby: it waits until no other service has the log, and with --bus all of them have it. Leave one of the two out',
    );
  return settings;
}

/** Refuses to let other machines reach a service that authenticates nobody. @param hasAuth whether it authenticates. */
export function checkExposure({ host, insecure, transport }: Settings, hasAuth: boolean): void {
  if (hasAuth || insecure || transport === 'stdio' || isLoopback(host)) return;
  throw new SettingsError(
    `--host: found "${host}", which other machines can reach, and nobody is authenticated: whoever reaches the port could read every conversation and start processes. Do one of these: set auth in a service file (--config service.yml with "auth: {apiKeys: true}"), listen on 127.0.0.1, or start with --insecure if something else keeps strangers out`,
  );
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\]|::ffff:127(\.\d{1,3}){3})$/i.test(host);
}

function isOn(environment: Environment, name: string): boolean {
  const value = environment[name] || undefined;
  const switched = parseOption({ name, value }, switches);
  return switched === '1' || switched === 'true';
}

/** A value, and the flag or variable it came from. */
interface Given {
  readonly name: string;
  readonly value: string | undefined;
}

function parseOption<T extends string>(given: Given | undefined, options: readonly T[]): T | undefined {
  if (given?.value === undefined) return undefined;
  const found = options.find((option) => option === given.value);
  if (found !== undefined) return found;
  const meant = closest(given.value, options);
  throw refuse(
    given,
    `one of ${options.join(', ')}${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
  );
}

function parsePort(given: Given | undefined): number | undefined {
  if (given?.value === undefined) return undefined;
  const port = /^\d{1,5}$/.test(given.value) ? Number(given.value) : Number.NaN;
  if (port <= 65_535) return port;
  throw refuse(given, 'a port from 0 to 65535, where 0 takes a free one');
}

function parseText(given: Given | undefined, expected: string): string | undefined {
  if (given?.value !== undefined && given.value.trim() === '') throw refuse(given, expected);
  return given?.value;
}

function refuse({ name, value }: Given, expected: string): SettingsError {
  return new SettingsError(`${name}: found ${JSON.stringify(value)}; expected ${expected}`);
}
