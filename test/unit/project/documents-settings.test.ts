import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseCommandLine } from '../../../src/cli/cli.ts';
import {
  AgentConfig,
  HistoryConfig,
  LimitsConfig,
  ServerConfig,
  SessionsConfig,
  TelemetryConfig,
} from '../../../src/config/schema/agent-config.ts';
import { LlmConfig, modelProviders, ScriptRule } from '../../../src/config/schema/llm-config.ts';
import { ApprovalConfig } from '../../../src/core/tool-call/approval-policy.ts';
import { ClientToolsConfig } from '../../../src/core/tool-call/client-tool.ts';
import { ElicitationConfig } from '../../../src/core/tool-server/elicitation-config.ts';
import { HttpServerConfig, StdioServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import { OAuthConfig } from '../../../src/core/tool-server/oauth-config.ts';
import { providers } from '../../../src/model-http/provider/providers.ts';
import { readDocument } from '../../support/documents/documents.ts';
import { projectRoot } from '../../support/project/source-imports.ts';

const agentFile = readDocument('docs/agent-file.md');
const operations = readDocument('docs/operations.md');

/** The cells of the rows of a part of docs/agent-file.md. */
function rows(heading: string): string[][] {
  const [, part = ''] = agentFile.split(`\n## ${heading}\n`);
  const lines = part.split('\n## ')[0]?.split('\n') ?? [];
  return lines
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '')));
}

/** The keys of the first column; several may share a row. */
function keys(heading: string): string[] {
  return rows(heading).flatMap(([names = '']) => names.split(', ').map((name) => name.replaceAll('`', '')));
}

const prefixed = (prefix: string, schema: z.ZodObject) =>
  Object.keys(schema.shape).map((key) => `${prefix}.${key}`);

const llm = { provider: 'scripted', model: 'offline' };
const defaults = AgentConfig.parse({ llm });

describe('docs/agent-file.md', () => {
  it('has an example that the service accepts', () => {
    const blocks = [...agentFile.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = '']) => parse(yaml));
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) expect(AgentConfig.safeParse(block).error).toBeUndefined();
    expect(Object.keys(blocks[0]).toSorted()).toEqual(Object.keys(AgentConfig.shape).toSorted());
  });

  it('describes every key and no other', () => {
    const described = (heading: string) => keys(heading).toSorted();
    const sorted = (names: readonly string[]) => [...new Set(names)].toSorted();
    expect(described('Top level')).toEqual(sorted(Object.keys(AgentConfig.shape)));
    expect(described('Model')).toEqual(sorted(Object.keys(LlmConfig.shape)));
    expect(described('Scripted model')).toEqual(sorted(Object.keys(ScriptRule.shape)));
    expect(described('Tool servers')).toEqual(
      sorted([...Object.keys(StdioServerConfig.shape), ...Object.keys(HttpServerConfig.shape)]),
    );
    expect(described('OAuth of tool servers')).toEqual(sorted(Object.keys(OAuthConfig.shape)));
    expect(described('Limits')).toEqual(sorted(prefixed('limits', LimitsConfig)));
    expect(described('Server')).toEqual(sorted(prefixed('server', ServerConfig)));
    expect(described('Telemetry')).toEqual(sorted(prefixed('telemetry', TelemetryConfig)));
    expect(described('CORS')).toEqual(sorted(Object.keys(defaults.cors).map((key) => `cors.${key}`)));
    expect(described('Sessions and history')).toEqual(
      sorted([...prefixed('sessions', SessionsConfig), ...prefixed('history', HistoryConfig)]),
    );
    for (const key of [
      ...prefixed('approval', ApprovalConfig),
      ...prefixed('clientTools', ClientToolsConfig),
      ...prefixed('elicitation', ElicitationConfig),
    ])
      expect(agentFile).toContain(`\`${key}\``);
  });

  it('tells the defaults as they are', () => {
    const values = z.record(z.string(), z.record(z.string(), z.unknown())).parse({
      llm: defaults.llm,
      limits: defaults.limits,
      cors: defaults.cors,
      server: defaults.server,
      history: defaults.history,
      sessions: defaults.sessions,
    });
    const told = [
      ...rows('Model').map(([key = '', value]) => ['llm', key.replaceAll('`', ''), value]),
      ...['Limits', 'CORS', 'Server', 'Sessions and history'].flatMap((heading) =>
        rows(heading).map(([key = '', value]) => [...key.replaceAll('`', '').split('.'), value]),
      ),
    ];
    const simple = told.flatMap(([part = '', key = '', value = '']) => {
      const actual = values[part]?.[key];
      const isSimple = ['number', 'boolean', 'string'].includes(typeof actual);
      return isSimple && value !== 'required'
        ? [{ key: `${part}.${key}`, value: value.replaceAll('`', ''), actual }]
        : [];
    });
    expect(simple.length).toBeGreaterThan(12);
    for (const { key, value, actual } of simple)
      expect({ key, value }).toEqual({ key, value: String(actual) });
  });
});

describe('docs/providers.md', () => {
  it('lists every provider with its address and key variable', () => {
    const table = readDocument('docs/providers.md').matchAll(/^\| `([\w-]+)` \| (\S+) \| `([A-Z_]+)`/gm);
    const listed = [...table].map(([, name, address, variable]) => ({ name, address, variable }));
    const expected = modelProviders.map((name) => {
      const { baseURL, keyVariable } = providers[name];
      return { name, address: baseURL ? new URL(baseURL).host : '`llm.baseURL`', variable: keyVariable };
    });
    const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) =>
      String(a.name).localeCompare(String(b.name));
    expect(listed.toSorted(byName)).toEqual(expected.toSorted(byName));
  });
});

describe('docs/operations.md', () => {
  it('names every option and command of the command line', () => {
    const help = parseCommandLine(['--help'], {});
    const output = help.kind === 'exit' ? help.output : '';
    const options = [...output.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option = '']) => option);
    const commands = [...output.matchAll(/^ {2}([a-z]+) .* {2}/gm)].map(([, command = '']) => command);
    expect(options.length).toBeGreaterThan(8);
    expect(commands).toContain('replay');
    const general = ['--version', '--help', 'help'];
    const missing = [...options, ...commands].filter(
      (name) => !general.includes(name) && !new RegExp(`\`${name}[\` ]`).test(operations),
    );
    expect(missing).toEqual([]);
  });

  it('names every variable of the service, and no other', () => {
    const variables = (text: string) => text.match(/AGENT_SERVICE_[A-Z_]+/g) ?? [];
    const sources = globSync('src/**/*.ts', { cwd: projectRoot }).map((file) => readDocument(join(file)));
    const read = new Set(sources.flatMap(variables));
    expect(new Set(variables(operations))).toEqual(read);
  });
});
