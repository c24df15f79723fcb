import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';

/** The fields of the form. Lists and maps are text with one entry per line. */
export interface ConnectionFields {
  readonly name: string;
  readonly type: McpServerConfig['type'];
  readonly command: string;
  /** One argument a line. */
  readonly args: string;
  /** `NAME=value` a line. */
  readonly env: string;
  readonly baseUrl: string;
  /** `Name: value` a line. */
  readonly headers: string;
  readonly description: string;
}

export const emptyConnection: ConnectionFields = {
  name: '',
  type: 'stdio',
  command: '',
  args: '',
  env: '',
  baseUrl: '',
  headers: '',
  description: '',
};

/** The body of `POST /api/connect-server`. @throws Error with a message for people when a line has no separator. */
export function connectionOf(fields: ConnectionFields): { name: string; config: McpServerConfig } {
  const description = fields.description.trim();
  const more = description === '' ? {} : { description };
  const config: McpServerConfig =
    fields.type === 'stdio'
      ? {
          type: 'stdio',
          command: fields.command.trim(),
          args: linesOf(fields.args),
          env: pairsOf(fields.env, '=', 'Environment'),
          ...more,
        }
      : {
          type: 'http',
          baseUrl: fields.baseUrl.trim(),
          headers: pairsOf(fields.headers, ':', 'Headers'),
          ...more,
        };
  return { name: fields.name.trim(), config };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function pairsOf(text: string, separator: string, field: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(separator);
      if (at <= 0) throw new Error(`${field}: “${line}” needs a name, “${separator}” and a value.`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
