import { relative } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { counted } from '../../core/counted.ts';
import { hostAndPort } from '../../core/host-literal.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { agentPathPrefix } from '../../gateway/agents/agent-choice.ts';

const OWN_AGENT = 'npx agent-service init writes one of your own';

export interface Welcome {
  readonly version: string;
  readonly agentFile: string;
  /** Whether it is the agent of the package, whose path tells nothing. */
  readonly isBuiltIn: boolean;
  readonly modelLabel: string;
  /** The agents besides the first one. */
  readonly others?: readonly { readonly id: string; readonly file: string; readonly modelLabel: string }[];
  readonly settings: Pick<Settings, 'mode' | 'host' | 'dataDir'> &
    Partial<Pick<Settings, 'inspect' | 'store'>>;
  readonly port: number;
}

/** The start message: the addresses of the service, its agent file and its data directory. */
export function welcome({ version, agentFile, isBuiltIn, modelLabel, others = [], ...at }: Welcome): string {
  const { settings, port } = at;
  const { mode, host, inspect } = settings;
  const address = hostAndPort(host, port);
  const url = `http://${address}`;
  return [
    `agent-service ${version} is listening on ${url}`,
    line(
      'agent',
      isBuiltIn ? `built in (${modelLabel}); ${OWN_AGENT}` : `${shortPath(agentFile)} (${modelLabel})`,
    ),
    ...others.map((other) =>
      line('agent', `${shortPath(other.file)} (${other.modelLabel}) at ${url}${agentPathPrefix(other.id)}`),
    ),
    line('data', shownLog(settings)),
    ...(mode === 'web'
      ? [
          line('console', `${url}/`),
          line('API', `${url}/api/health`),
          line('docs', `${url}/docs`),
          line('WebSocket', `ws://${address}/`),
        ]
      : []),
    line('MCP', `${url}/mcp`),
    ...(inspect ? [line('inspector', `ws://${address}/inspect`)] : []),
    '',
  ].join('\n');
}

/** Where the log is, without a password. */
export function shownLog({
  dataDir,
  store,
}: Pick<Settings, 'dataDir'> & { readonly store?: string | undefined }): string {
  if (store !== undefined) {
    const { host, pathname, searchParams } = new URL(store);
    const schema = searchParams.get('schema');
    return `PostgreSQL at ${host}${pathname}${schema === null ? '' : `, schema ${schema}`}`;
  }
  return dataDir === ':memory:' ? 'in memory only, gone when the service stops' : shortPath(dataDir);
}

/** The outcome of the first attempt to connect a tool server; empty if it was disconnected in the meantime. */
export function toolServerLine({ name, status, error }: McpServerRecord, tools: number): string {
  switch (status) {
    case 'connected':
      return `${line('tools', `${name} is up: ${counted(tools, 'tool')}`)}\n`;
    case 'error':
      return `${line('tools', `${name} failed: ${error ?? 'unknown reason'}; retrying`)}\n`;
    case 'connecting':
    case 'disconnected':
      return '';
    default:
      return status satisfies never;
  }
}

/** Announces work that takes long, so that nobody thinks that the service hangs. */
export function progressLine(label: string, text: string): string {
  return `${line(label, `${text} …`)}\n`;
}

function line(label: string, text: string): string {
  return `  ${label.padEnd(10)} ${text}`;
}

/** The path relative to the working directory, if it lies within. */
function shortPath(path: string): string {
  const shown = relative(process.cwd(), path);
  return shown.startsWith('..') || shown === '' ? path : shown;
}
