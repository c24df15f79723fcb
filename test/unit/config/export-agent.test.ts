// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts under test hold references
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exportAgentYaml, type RuntimeServers } from '../../../src/config/export/export-agent.ts';
import { REDACTED } from '../../../src/config/export/redact.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';

const environment = { KEY: 'env-key', USER: 'env-user', PASS: 'env-pass', PORT: '8080', NAME: 'Ada' };
const unchanged: RuntimeServers = { removed: new Set(), added: {} };

function exportOf(text: string, changes = unchanged): string {
  return exportAgentYaml(parseAgentFile(text, 'agent.yml', environment).raw, changes);
}

/** What is exported loads, and exporting that again changes nothing. */
function expectStable(yaml: string): void {
  expect(exportAgentYaml(parseAgentFile(yaml, 'export.yml', environment).raw, unchanged)).toBe(yaml);
}

const full = `
# a comment with SECRET-0
version: "1.0"
systemPrompt: |
  You are $NAME. It costs $$5 and $5.
  Docs: https://me:SECRET-1@docs.example.com/?token=SECRET-2
llm:
  provider: openai
  model: m
  apiKey: $KEY
  baseURL: https://$USER:$PASS@proxy.example.com/v1?api-key=\${KEY:-SECRET-3}
  script:
    - when: "^x sk-SECRET1234 (.+)$"
      toolCalls:
        - { tool: t, arguments: { password: SECRET-4, pin_token: 1234, text: $$1, count: 2 } }
mcpServers:
  files:
    type: stdio
    command: npx
    args: [-y, server, --token, SECRET-5, --api-key=SECRET-6, "X_TOKEN=\${PASS:-SECRET-7}", "\${DIR:-/tmp}"]
    env: { HOME_URL: SECRET-8, REF: $PASS }
  remote:
    type: http
    baseUrl: \${REMOTE:-http://me:SECRET-9@host/mcp?key=SECRET-10}
    headers: { Authorization: Bearer SECRET-11, X-Any: SECRET-12 }
server:
  port: $PORT
`;

describe('the exported agent', () => {
  it('holds no secret, and no reference where a secret belongs', () => {
    const yaml = exportOf(full);
    expect(yaml).not.toMatch(/SECRET-?\d|1234|env-|\$KEY|\$PASS|\$USER/);
    expect(yaml).not.toContain('#');
  });

  it('keeps everything else as it was written', () => {
    const exported: unknown = parse(exportOf(full));
    expect(exported).toEqual({
      version: '1.0',
      systemPrompt: `You are $NAME. It costs $$5 and $5.\nDocs: https://${REDACTED}@docs.example.com/?token=${REDACTED}\n`,
      llm: {
        provider: 'openai',
        model: 'm',
        apiKey: REDACTED,
        baseURL: `https://${REDACTED}@proxy.example.com/v1?api-key=${REDACTED}`,
        script: [
          {
            when: '^x \\*\\*\\*REDACTED\\*\\*\\* (.+)$',
            toolCalls: [
              { tool: 't', arguments: { password: REDACTED, pin_token: REDACTED, text: '$$1', count: 2 } },
            ],
          },
        ],
      },
      mcpServers: {
        files: {
          type: 'stdio',
          command: 'npx',
          args: [
            '-y',
            'server',
            '--token',
            REDACTED,
            `--api-key=${REDACTED}`,
            `X_TOKEN=${REDACTED}`,
            '${DIR:-/tmp}',
          ],
          env: { HOME_URL: REDACTED, REF: REDACTED },
        },
        remote: {
          type: 'http',
          baseUrl: `\${REMOTE:-http://${REDACTED}@host/mcp?key=${REDACTED}}`,
          headers: { Authorization: REDACTED, 'X-Any': REDACTED },
        },
      },
      server: { port: '$PORT' },
    });
  });

  it('can be loaded, and does not change when it is exported again', () => {
    expectStable(exportOf(full));
  });

  it('redacts the key also when it is only a reference, and invents none', () => {
    const scripted = 'llm: { provider: scripted, model: m }';
    expect(exportOf('llm: { provider: openai, model: m, apiKey: $KEY }')).toContain(`apiKey: "${REDACTED}"`);
    expect(exportOf(scripted)).not.toContain('apiKey');
  });

  it('does not have a secret in another place either', () => {
    const yaml = exportOf(`
systemPrompt: Never tell company-key-1, nor word, nor plain-token-2.
llm: { provider: scripted, model: m, apiKey: company-key-1, script: [{ when: say company-key-1, reply: no }] }
mcpServers: { a: { type: stdio, command: x, args: [plain-token-2], env: { API_TOKEN: plain-token-2, SHORT_KEY: word } } }
`);
    expect(parse(yaml)).toMatchObject({
      systemPrompt: `Never tell ${REDACTED}, nor word, nor ${REDACTED}.`,
      mcpServers: { a: { args: [REDACTED] } },
    });
    expect(yaml).not.toMatch(/company-key-1|plain-token-2/);
    expectStable(yaml);
  });

  it('has a version also when the file has none', () => {
    expect(exportOf('llm: { provider: scripted, model: m }')).toMatch(/^version: "1\.0"\n/);
  });

  it('redacts the default of a secret variable wherever it stands', () => {
    const yaml = exportOf('systemPrompt: say ${MY_TOKEN:-hunter2}\nllm: { provider: scripted, model: m }');
    expect(yaml).toContain(`say \${MY_TOKEN:-${REDACTED}}`);
    expectStable(yaml);
  });

  it('replaces a whole pattern that the marker would break', () => {
    const yaml = exportOf(
      'llm: { provider: scripted, model: m, script: [{ when: "(http://h?token=abc)" }] }',
    );
    expect(yaml).toContain('when: \\*\\*\\*REDACTED\\*\\*\\*');
    expectStable(yaml);
  });

  it('leaves names of headers under cors alone', () => {
    expect(exportOf('llm: { provider: scripted, model: m }\ncors: { headers: [Authorization] }')).toContain(
      '- Authorization',
    );
  });
});

describe('servers that changed at runtime', () => {
  const file =
    'llm: { provider: scripted, model: m }\nmcpServers:\n  one: { type: stdio, command: a }\n  two: { type: stdio, command: b }\n';
  const added: Record<string, McpServerConfig> = {
    three: {
      type: 'stdio',
      command: 'c$NAME',
      args: ['$HOME', '--token', 's$cret', 'a$$b'],
      env: { A: 'b' },
    },
    four: { type: 'http', baseUrl: 'http://me:pa}ss@host/mcp?key=$x}y&a=$b' },
  };

  it('stand beside those of the file; a removed one is left out', () => {
    const exported: unknown = parse(exportOf(file, { removed: new Set(['one']), added }));
    expect(exported).toMatchObject({ mcpServers: { two: {}, three: {}, four: {} } });
    expect(exported).not.toMatchObject({ mcpServers: { one: {} } });
  });

  it('are loaded again as they are, dollar signs and all, but for their secrets', () => {
    const yaml = exportOf(file, { removed: new Set(), added });
    const { mcpServers } = parseAgentFile(yaml, 'export.yml', environment).config;
    expect(mcpServers.three).toEqual({
      type: 'stdio',
      command: 'c$NAME',
      args: ['$HOME', '--token', REDACTED, 'a$$b'],
      env: { A: REDACTED },
    });
    expect(mcpServers.four).toEqual({
      type: 'http',
      baseUrl: `http://${REDACTED}@host/mcp?key=${REDACTED}&a=$b`,
    });
    expectStable(yaml);
  });

  it('leave a file that loads when an approval rule names a server that was removed', () => {
    const rules = 'approval: { rules: [{ server: one, policy: ask }, { server: t*, policy: deny }] }\n';
    const yaml = exportOf(`${file}${rules}`, { removed: new Set(['one']), added: {} });
    expect(parse(yaml)).toMatchObject({
      approval: {
        rules: [
          { server: 'one', policy: 'ask', atRunTime: true },
          { server: 't*', policy: 'deny' },
        ],
      },
    });
    expectStable(yaml);
  });

  it('replace the one of the file that had the same name', () => {
    const yaml = exportOf(file, { removed: new Set(), added: { one: { type: 'stdio', command: 'new' } } });
    expect(parse(yaml)).toMatchObject({ mcpServers: { one: { command: 'new' }, two: { command: 'b' } } });
  });

  it('are exported stably whatever their texts look like', () => {
    const pieces = [
      '--token',
      '=',
      ':',
      ' ',
      '$',
      '{',
      '}',
      'x',
      'key',
      'http://',
      '@',
      '?',
      '&',
      '"',
      "'",
      '#',
      '-',
      '\n',
      'sk-1',
      'Bearer ',
    ];
    // A fixed generator: the same arguments in every run.
    let state = 7;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    const argument = () => Array.from({ length: random(9) }, () => pieces[random(pieces.length)]).join('');
    for (let round = 0; round < 300; round += 1) {
      const args = [argument(), argument(), argument()];
      const description = argument();
      expectStable(
        exportOf(file, {
          removed: new Set(),
          added: { x: { type: 'stdio', command: 'c', args, description } },
        }),
      );
    }
  });
});
