import { z } from 'zod';

/** How MCP clients name the types. Whether a server over HTTP streams or sends events is found out by connecting. */
const types = new Map<unknown, string>([
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable_http', 'http'],
  ['sse', 'http'],
]);

const UNASKED = 'tools run unasked unless approval.rules say otherwise, so remove it';
const BESIDE_COMMAND =
  'stands beside command; a server is a process (command) or has an address (url), so remove one of the two';
const OF_STDIO =
  'stands beside type: stdio, and only a server of type http has an address; write type: http, or command in its place';
const DENY = 'deny the tools instead, with policy: deny in approval.rules';

/** Keys that only other clients have, and what to write instead. */
const foreignKeys: Readonly<Record<string, string>> = {
  autoApprove: UNASKED,
  alwaysAllow: UNASKED,
  disabledTools: DENY,
  excludeTools: DENY,
  envFile: 'put the variables under env',
  serverUrl: 'write url',
  httpUrl: 'write url',
  transport: 'write type',
};

export const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

const Given = z.record(z.string(), z.unknown());

/**
 * Reads a tool server as other MCP clients write it: without a `type` or with their name of it, and with `url`.
 * What cannot be read is reported under the name that it has there.
 */
export function readOtherClients(given: unknown, context: z.RefinementCtx): unknown {
  const { data } = Given.safeParse(given);
  if (data === undefined) return given;
  const report = (key: string, message: string, isWhole = false): void =>
    context.addIssue({ code: 'custom', path: [key], message, params: { isWhole }, input: data[key] });
  const { url, ...config } = withoutForeignKeys(data, report);
  const address = url === undefined ? 'baseUrl' : 'url';
  if (data[address] !== undefined) {
    if (config.command !== undefined) report(address, BESIDE_COMMAND, true);
    else if (config.type === 'stdio') report(address, OF_STDIO, true);
  }
  if (url === undefined) return { ...config, ...typeOf(config) };
  const problem = urlProblem(url, config);
  if (problem !== undefined) report('url', problem);
  return { ...config, baseUrl: url, type: config.type === undefined ? 'http' : typeOf(config).type };
}

type Report = (key: string, message: string, isWhole?: boolean) => void;

/** Clients write empty lists for what is not used. They are left out. */
function withoutForeignKeys(config: Record<string, unknown>, report: Report): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).filter(([key, value]) => {
      const advice = Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined;
      if (advice === undefined) return true;
      if (!Array.isArray(value) || value.length > 0) report(key, `another MCP client’s key; ${advice}`, true);
      return false;
    }),
  );
}

function urlProblem(url: unknown, { baseUrl }: Record<string, unknown>): string | undefined {
  if (baseUrl !== undefined) return 'must not stand beside baseUrl, which means the same';
  return HttpUrl.safeParse(url).error?.issues[0]?.message;
}

/** The type in the words of this service; without a type, the type that the other keys tell. */
function typeOf({ type, command, baseUrl }: Record<string, unknown>): { readonly type?: unknown } {
  if (type !== undefined) return { type: types.get(type) ?? type };
  if (command !== undefined) return { type: 'stdio' };
  return baseUrl === undefined ? {} : { type: 'http' };
}
