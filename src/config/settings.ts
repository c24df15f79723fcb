import { parseBusUrl } from './addresses/bus-url.ts';
import { parseStoreUrl } from './addresses/store-url.ts';
import {
  firstGiven,
  type Given,
  ofVariable,
  parseAddress,
  parseHost,
  parseOption,
  parsePort,
  parseSwitch,
  parseText,
} from './given.ts';
import type { Environment } from './reading/expand.ts';
import { logLevels, type ServerConfig } from './schema/agent-config.ts';
import type { ServiceConfig } from './schema/service-config.ts';
import { checkTogether } from './settings-together.ts';

export const modes = ['web', 'mcp'] as const;
export const transports = ['http', 'stdio'] as const;
const inspections = ['states', 'content'] as const;
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
  readonly service?: Pick<ServiceConfig, 'store' | 'bus' | 'auth'>;
}

/**
 * A flag wins over a variable, a variable over a file, and a file over the default. Throws a `SettingsError` for a value
 * that is invalid, and for values that do not fit together.
 */
export function resolveSettings({ flags, environment, yaml, service = {} }: SettingsSources): Settings {
  const choose = (flag: string, value: string | undefined, ...variables: string[]): Given | undefined =>
    firstGiven({ name: flag, value }, ...variables.map((name) => ofVariable(environment, name)));
  const mode = choose('--mode', flags.mode, 'AGENT_SERVICE_MODE');
  const transport = choose('--transport', flags.transport, 'AGENT_SERVICE_TRANSPORT');
  const port = choose('--web-port', flags.webPort, 'AGENT_SERVICE_WEB_PORT', 'PORT');
  const host =
    choose('--host', flags.host, 'AGENT_SERVICE_HOST') ??
    firstGiven({ name: 'server.host of the agent file', value: yaml.host });
  const dataDir = choose('--data-dir', flags.dataDir, 'AGENT_SERVICE_DATA_DIR');
  const store =
    choose('--store', flags.store, 'AGENT_SERVICE_STORE') ??
    firstGiven({ name: 'store of the service file', value: service.store });
  const bus =
    choose('--bus', flags.bus, 'AGENT_SERVICE_BUS') ??
    firstGiven({ name: 'bus of the service file', value: service.bus });
  const logLevel = choose('--log-level', flags.logLevel, 'AGENT_SERVICE_LOG_LEVEL');
  const inspected = flags.inspectContent ? 'content' : flags.inspect ? 'states' : undefined;
  const inspect = choose('--inspect', inspected, 'AGENT_SERVICE_INSPECT');
  const standby = choose('--standby', flags.standby?.toString(), 'AGENT_SERVICE_STANDBY');
  const insecure = choose('--insecure', flags.insecure?.toString(), 'AGENT_SERVICE_INSECURE');
  const settings: Settings = {
    mode: parseOption(mode, modes) ?? 'web',
    transport: parseOption(transport, transports) ?? 'http',
    port: parsePort(port) ?? yaml.port ?? 3001,
    host: parseHost(host) ?? '127.0.0.1',
    dataDir: parseText(dataDir, 'a folder, or :memory:') ?? yaml.dataDir ?? DEFAULT_DATA_DIR,
    store: parseAddress(store, parseStoreUrl),
    bus: parseAddress(bus, parseBusUrl),
    logLevel: parseOption(logLevel, logLevels) ?? yaml.logLevel ?? 'info',
    inspect: parseOption(inspect, inspections),
    inspectToken: environment.AGENT_SERVICE_INSPECT_TOKEN || undefined,
    standby: parseSwitch(standby),
    insecure: parseSwitch(insecure),
  };
  checkTogether(settings, { transport, host, bus, standby }, service.auth !== undefined);
  return settings;
}
