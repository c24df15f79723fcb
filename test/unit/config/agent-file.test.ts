// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts under test hold references
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentFileError } from '../../../src/config/problems/agent-file-error.ts';
import { loadAgentFile, parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import type { Environment } from '../../../src/config/reading/expand.ts';

const llm = 'llm: { provider: scripted, model: offline }';

function problemsOf(text: string, environment: Environment = {}): string[] {
  try {
    parseAgentFile(text, 'agent.yml', environment);
  } catch (error) {
    if (error instanceof AgentFileError) return error.message.split('\n');
    throw error;
  }
  throw new Error('expected the file to be refused');
}

describe('an agent file', () => {
  it('is given back expanded with defaults, and as it was written', () => {
    const text = 'systemPrompt: I am $WHO\nllm:\n  provider: openai\n  model: m\n  apiKey: $KEY\n';
    const agent = parseAgentFile(text, 'agent.yml', { WHO: 'Ada', KEY: 'k' });
    expect(agent.config).toMatchObject({
      version: '1.0',
      systemPrompt: 'I am Ada',
      llm: { apiKey: 'k', maxSteps: 25 },
      mcpServers: {},
      limits: { requestsPerMinute: 100 },
    });
    expect(agent.raw).toEqual({
      systemPrompt: 'I am $WHO',
      llm: { provider: 'openai', model: 'm', apiKey: '$KEY' },
    });
    expect(agent.path).toBe('agent.yml');
  });

  it('may use anchors, a byte order mark and JSON', () => {
    const anchored = `${llm}\nmcpServers:\n  a: &a { type: stdio, command: x }\n  b: *a\n`;
    expect(Object.keys(parseAgentFile(anchored, 'f', {}).config.mcpServers)).toEqual(['a', 'b']);
    const json = '\uFEFF{"llm":{"provider":"scripted","model":"offline"}}';
    expect(parseAgentFile(json, 'f', {}).config.llm.model).toBe('offline');
  });
});

describe('a value out of a variable', () => {
  const withLimits = (lines: string) => `${llm}\n${lines}`;

  it('becomes a number or a boolean where the schema wants one', () => {
    const text = withLimits(
      'server:\n  port: $PORT\n  trustProxy: $TRUST\nlimits:\n  requestsPerMinute: ${RATE:-7}\n  queuedMessages: ${Q:-false}\n',
    );
    const { server, limits } = parseAgentFile(text, 'f', { PORT: '8080', TRUST: 'true' }).config;
    expect([server.port, server.trustProxy]).toEqual([8080, true]);
    expect([limits.requestsPerMinute, limits.queuedMessages]).toEqual([7, false]);
  });

  it('becomes a fraction', () => {
    const text = 'llm:\n  provider: scripted\n  model: m\n  temperature: ${T:-0.2}\n';
    expect(parseAgentFile(text, 'f', {}).config.llm.temperature).toBe(0.2);
    expect(parseAgentFile(text, 'f', { T: '1e-1' }).config.llm.temperature).toBe(0.1);
  });

  it('stays a string where the schema wants one, whatever it looks like', () => {
    const text = 'llm:\n  provider: openai\n  model: $MODEL\n  apiKey: $KEY\n';
    const { model, apiKey } = parseAgentFile(text, 'f', { MODEL: 'true', KEY: '0123' }).config.llm;
    expect([model, apiKey]).toEqual(['true', '0123']);
  });

  it.each([
    ['only a part of the value', 'port: 1$PORT'],
    ['no number', 'port: $WORD'],
    ['a list', 'port: $LIST'],
  ])('is refused for a number when it is %s', (_case, line) => {
    const environment = { PORT: '80', WORD: 'abc', LIST: '[1]' };
    expect(problemsOf(withLimits(`server:\n  ${line}\n`), environment)).toEqual([
      expect.stringMatching(/^agent\.yml:3: server\.port: found a string from ".*"; expected a number$/),
    ]);
  });

  it.each([
    ['port: "$PORT"', 'a string from "$PORT"; expected a number (write it without quotes)'],
    [
      'port: "${PORT:-1}"',
      'a string from "${PORT:-1}"; expected a number (write it without quotes, on a line of its own)',
    ],
    ['port: "80"', '"80"; expected a number (write it without quotes)'],
    ['port: "true"', '"true"; expected a number'],
    ['port: "1$PORT"', 'a string from "1$PORT"; expected a number'],
    ['port: "+"', '"+"; expected a number'],
  ])('has no quotes where a number is wanted, says the error: %s', (line, found) => {
    const text = withLimits(`server:\n  ${line}\n`);
    expect(problemsOf(text, { PORT: '80' })).toEqual([`agent.yml:3: server.port: found ${found}`]);
  });

  it('has no quotes where a limit or a flag is wanted, says the error', () => {
    const text = `${llm}\nlimits: { queuedMessages: "false", requestsPerMinute: "7" }\na2a: { push: { allowPrivateAddresses: "$YES" } }\n`;
    expect(problemsOf(text, { YES: 'true' })).toEqual([
      'agent.yml:2: limits.requestsPerMinute: found "7"; expected a number, or false (write it without quotes)',
      'agent.yml:2: limits.queuedMessages: found "false"; expected a number, or false (write it without quotes)',
      'agent.yml:3: a2a.push.allowPrivateAddresses: found a string from "$YES"; expected true or false (write it without quotes)',
    ]);
  });

  it.each(['server: { port: ${PORT} }', 'server: { trustProxy: [${PROXY:-::1}] }'])(
    'cannot be read from ${…} in a map or a list on one line, and the error says what to do: %s',
    (line) => {
      expect(problemsOf(`${llm}\n${line}\n`)[0]).toBe(
        'agent.yml:2: not valid YAML: within {…} and […], a reference ${…} must be in quotes; if it is a number, true or false, write it without quotes, on a line of its own',
      );
    },
  );

  it('is not shown in an error, since it may be a secret', () => {
    const problems = problemsOf(`${llm}\nserver:\n  port: $PORT\n  logLevel: $LEVEL\n`, {
      PORT: 'hunter2',
      LEVEL: 'hunter2',
    });
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toContain('hunter2');
  });
});

describe('a name that every object has', () => {
  it('is no variable of the environment', () => {
    const text = `${llm}\nname: "\${toString:-x} \${__proto__:-y}"`;
    expect(parseAgentFile(text, 'f', process.env).config.name).toBe('x y');
    expect(problemsOf(`${llm}\nname: $constructor`)).toEqual([
      expect.stringContaining('name: the variable constructor is not set'),
    ]);
  });
});

const HOSTS = 'server.allowedHosts[1]';

describe('a setting that the service could not use', () => {
  it.each<[string, string]>([
    ['server: { drainTimeoutMs: 2147483648 }', 'server.drainTimeoutMs'],
    ['server: { publicUrl: "https://a.example/?q" }', 'server.publicUrl'],
    ['server: { publicUrl: "https://a.example/#q" }', 'server.publicUrl'],
    ['cors: { headers: ["X-A\\r\\nX-B"] }', 'cors.headers[0]'],
    ...[
      'https://x.example.com',
      '*',
      '*.example.com',
      'x.example.com/',
      'x.example.com:70000',
      '[::1',
      'a b',
      '',
    ].map((host): [string, string] => [
      `server: { allowedHosts: [x.example.com, ${JSON.stringify(host)}] }`,
      HOSTS,
    ]),
  ])('is refused: %s', (line, field) => {
    expect(problemsOf(`${llm}\n${line}`)).toEqual([expect.stringContaining(`${field}: `)]);
  });

  it.each([
    'server: { drainTimeoutMs: 2147483647, publicUrl: https://a.example/agent/ }',
    'cors: { headers: ["*", X-Request-Id] }',
    'server: { allowedHosts: [x.example.com, "x.example.com:8443", my_service, "::1", "[::1]", "[::1]:80", 10.0.0.1] }',
  ])('is near to one that it can use: %s', (line) => {
    expect(() => parseAgentFile(`${llm}\n${line}`, 'f', {})).not.toThrow();
  });
});

describe('the errors of an agent file', () => {
  it('refuse a user and a password in a public URL, without showing them', () => {
    const found = problemsOf(`${llm}\nserver: { publicUrl: "https://u:hunter2@h.example/" }\n`);
    expect(found).toEqual([
      expect.stringMatching(
        /\.publicUrl: found "https:\/\/[^u]*@h.example\/"; expected a URL without user and password$/,
      ),
    ]);
  });

  it('refuse what is no URL', () => {
    for (const setting of ['server: { publicUrl', 'telemetry: { otlpEndpoint'])
      expect(problemsOf(`${llm}\n${setting}: "hunter2" }\n`)).toHaveLength(1);
  });

  it('say what an allowed host is', () => {
    expect(problemsOf(`${llm}\nserver: { allowedHosts: ["*"] }\n`)).toEqual([
      'agent.yml:2: server.allowedHosts[0]: found "*"; expected a host name such as agent.example.com or an IP address, without scheme, path and *; a port may follow',
    ]);
  });

  it('are reported together, in the order of the lines', () => {
    const text = `sytemPrompt: x
llm:
  provider: opena
  model: ""
  apiKey: $NO_SUCH_KEY
  temperature: 9
  temprature: 1
  maxSteps: 1.5
  baseURL: ftp://x
  script:
    - when: "(("
`;
    expect(problemsOf(text)).toEqual([
      'agent.yml:1: sytemPrompt: unknown key; did you mean "systemPrompt"?',
      expect.stringMatching(
        /^agent\.yml:3: llm\.provider: found "opena"; expected one of openai, .*scripted; did you mean "openai"\?$/,
      ),
      'agent.yml:4: llm.model: found an empty string; expected a string that is not empty',
      'agent.yml:5: llm.apiKey: the variable NO_SUCH_KEY is not set; expected it in the environment',
      'agent.yml:6: llm.temperature: found 9; expected a number of at most 2',
      'agent.yml:7: llm.temprature: unknown key; expected one of provider, model, apiKey, baseURL, api, temperature, topP, maxTokens, reasoningEffort, stop, seed, parallelToolCalls, extraBody, keepReasoning, maxSteps, maxRetries, firstByteTimeoutMs, timeoutMs, stepTimeoutMs, script',
      'agent.yml:8: llm.maxSteps: found 1.5; expected a whole number',
      'agent.yml:9: llm.baseURL: found "ftp://x"; expected an http:// or https:// URL',
      'agent.yml:11: llm.script[0].when: found "(("; expected a valid regular expression',
    ]);
  });

  it.each(['" "', '"a\\0b"'])('name a data directory that cannot be one: %s', (name) => {
    expect(problemsOf(`${llm}\nserver: { dataDir: ${name} }\n`)).toEqual([
      expect.stringMatching(/^agent\.yml:2: server\.dataDir: found .*; expected a folder, or :memory:$/),
    ]);
  });

  it('name what an MCP server lacks, by its type', () => {
    const text = `${llm}
mcpServers:
  untyped: { args: [] }
  mistyped: { type: stdi }
  my http: { type: http, address: http://x }
  my stdio: { type: stdio, comand: x }
  nothing:
  a/b: { type: stdio, command: x }
`;
    expect(problemsOf(text)).toEqual([
      'agent.yml:3: mcpServers.untyped.type: missing; expected "stdio" or "http"',
      'agent.yml:4: mcpServers.mistyped.type: found "stdi"; expected "stdio" or "http"',
      'agent.yml:5: mcpServers["my http"].baseUrl: missing; expected an http:// or https:// URL',
      'agent.yml:5: mcpServers["my http"].address: unknown key; expected one of type, baseUrl, headers, oauth, timeout, description, roots, sampling, disabled',
      'agent.yml:6: mcpServers["my stdio"].command: missing; expected a string',
      'agent.yml:6: mcpServers["my stdio"].comand: unknown key; did you mean "command"?',
      'agent.yml:7: mcpServers.nothing: found nothing; expected a map',
      expect.stringMatching(/^agent\.yml:8: mcpServers\["a\/b"\]: the name is not allowed; it must be /),
    ]);
  });

  it('say what each alternative of a value is', () => {
    const text = `${llm}
limits:
  requestsPerMinute: 0
  messagesPerMinute: many
cors:
  origins: [here]
server:
  port: 70000
  trustProxy: [10.0.0.1, proxy]
`;
    expect(problemsOf(text)).toEqual([
      'agent.yml:3: limits.requestsPerMinute: found 0; expected a number of at least 1',
      'agent.yml:4: limits.messagesPerMinute: found "many"; expected a number, or false',
      'agent.yml:6: cors.origins[0]: found "here"; expected an origin such as https://app.example.com, or *',
      'agent.yml:8: server.port: found 70000; expected a number of at most 65535',
      expect.stringMatching(
        /^agent\.yml:9: server\.trustProxy\[1\]: found "proxy"; expected an IPv4 address, or /,
      ),
    ]);
  });

  it('say only what to do about a field that the interface does not have', () => {
    expect(problemsOf('llm:\n  provider: openai\n  model: m\n  apiKey: k\n  stop: [a]\n')).toEqual([
      'agent.yml:5: llm.stop: found a list; the API in use (llm.api: responses) has no such field; remove it, or set llm.api: chat',
    ]);
  });

  it('say what the login of a tool server lacks', () => {
    const text = `${llm}
mcpServers:
  a: {type: http, baseUrl: https://a.example/mcp, oauth: {grant: client-credentials}}
  b: {type: http, baseUrl: https://b.example/mcp, oauth: {clientSecret: hunter2}}
  c: {type: http, baseUrl: https://c.example/mcp, oauth: {clientMetadataUrl: https://c.example}}
`;
    expect(problemsOf(text)).toEqual([
      'agent.yml:3: mcpServers.a.oauth.clientId: is missing: the grant client-credentials needs the id of a registered client',
      'agent.yml:3: mcpServers.a.oauth.clientSecret: is missing: the grant client-credentials needs clientSecret or privateKey',
      'agent.yml:4: mcpServers.b.oauth.clientSecret: needs the clientId that it belongs to',
      'agent.yml:5: mcpServers.c.oauth.clientMetadataUrl: found "https://c.example"; it must have a path: the document has an address of its own',
    ]);
  });

  it('tell to quote a number or a boolean that should be a string', () => {
    expect(problemsOf(`version: 1.0\n${llm}\n`)).toEqual([
      'agent.yml:1: version: found 1; expected "1.0", the only version of the agent file that this release reads (put it in quotes)',
    ]);
  });

  it('refuse a version of the format that this release does not read', () => {
    expect(problemsOf(`version: "99"\n${llm}\n`)).toEqual([
      'agent.yml:1: version: found "99"; expected "1.0", the only version of the agent file that this release reads',
    ]);
  });

  it('find a spelling without regard to case and separators', () => {
    expect(problemsOf('llm: { provider: scripted, model: m, api_key: x }\nmcp_servers: {}\n')).toEqual([
      'agent.yml:1: llm.api_key: unknown key; did you mean "apiKey"?',
      'agent.yml:2: mcp_servers: unknown key; did you mean "mcpServers"?',
    ]);
  });

  it('name the line of a variable inside a text of many lines', () => {
    expect(problemsOf(`systemPrompt: |\n  one\n  two $TWO\n${llm}\n`)).toEqual([
      'agent.yml:3: systemPrompt: the variable TWO is not set; set it, or write ${TWO:-default}',
    ]);
  });

  it('report a variable that is not set once, and not the value it leaves', () => {
    expect(problemsOf('llm: { provider: $PROVIDER, model: m }\nserver:\n  port: $A_PORT\n')).toEqual([
      'agent.yml:1: llm.provider: the variable PROVIDER is not set; set it, or write ${PROVIDER:-default}',
      'agent.yml:3: server.port: the variable A_PORT is not set; set it, or write ${A_PORT:-default}',
    ]);
  });

  it('never show a secret', () => {
    const text = `llm: { provider: scripted, model: m, apiKey: [hunter2] }
mcpServers:
  a: { type: stdio, command: x, args: --token hunter2, env: { A: [hunter2], B: 4711 } }
  b: { type: http, baseUrl: "gopher://me:hunter2@host?token=hunter2", headers: hunter2 }
  c: --api-key=hunter2
`;
    const problems = problemsOf(text);
    expect(problems).toHaveLength(7);
    expect(problems.join('\n')).not.toMatch(/hunter2|4711/);
  });

  it('point at the agent as a whole when its model is missing', () => {
    expect(problemsOf('version: "1.0"\n')).toEqual(['agent.yml:1: llm: missing; expected a map']);
  });
});

describe('an approval rule', () => {
  const servers =
    'mcpServers:\n  everything: { type: stdio, command: x }\n  files: { type: stdio, command: x }\n';
  const withRule = (rule: string, other = servers) =>
    `${llm}\n${other}approval:\n  rules:\n    - {${rule}, policy: ask}\n`;

  it('is refused when no tool server has the name that it gives, with the one that was meant', () => {
    expect(problemsOf(withRule('server: everthing, tool: "*"'))).toEqual([
      'agent.yml:7: approval.rules[0].server: found "everthing"; expected a server of mcpServers (everything, files), or atRunTime: true beside it if clients connect the server later; did you mean "everything"?',
    ]);
    expect(problemsOf(withRule('server: github', ''))).toEqual([
      'agent.yml:4: approval.rules[0].server: found "github"; expected a server of mcpServers (there is none), or atRunTime: true beside it if clients connect the server later',
    ]);
  });

  it('is refused together with every other problem of the file', () => {
    const text = `${withRule('server: everthing')}limits: { requestsPerMinute: 0 }\n`;
    expect(problemsOf(text)).toEqual([
      expect.stringContaining('approval.rules[0].server'),
      expect.stringContaining('limits.requestsPerMinute'),
    ]);
    expect(problemsOf(withRule('server: everthing, tool: 3'))).toEqual([
      expect.stringContaining('approval.rules[0].tool'),
      expect.stringContaining('approval.rules[0].server'),
    ]);
  });

  it('is judged by the names of servers whose own settings are wrong', () => {
    const wrong = 'mcpServers:\n  files: { type: stdio }\n';
    expect(problemsOf(withRule('server: files', wrong))).toEqual([
      expect.stringContaining('mcpServers.files.command'),
    ]);
    expect(problemsOf(withRule('server: files', 'mcpServers: none\n'))).toEqual([
      expect.stringContaining('mcpServers: found "none"'),
    ]);
  });

  it.each([
    'server: files',
    'server: "fil*"',
    'server: "?iles"',
    'tool: write',
    'server: github, atRunTime: true',
  ])('is accepted as {%s}', (rule) => {
    expect(parseAgentFile(withRule(rule), 'f', {}).config.approval.rules).toHaveLength(1);
  });
});

describe('a block of tool servers, pasted from another MCP client', () => {
  const serversOf = (text: string, environment: Environment = {}) =>
    parseAgentFile(`${llm}\n${text}`, 'f', environment).config.mcpServers;
  const files = { type: 'stdio', command: 'npx', args: ['-y', 'server'], env: { TOKEN: 'from-env' } };
  const remote = { type: 'http', baseUrl: 'https://mcp.example.com/mcp', headers: { 'X-Team': 'blue' } };
  const block = `{
\t"files": { "command": "npx", "args": ["-y", "server"], "env": { "TOKEN": "\${env:TOKEN}" } },
\t"remote": { "type": "streamable-http", "url": "https://mcp.example.com/mcp", "headers": { "X-Team": "blue" } }
}`;

  it.each([
    ['under mcpServers', `mcpServers: ${block}\n`],
    ['with its own key around it', `mcpServers: {\n\t"mcpServers": ${block.replaceAll('\n', '\n\t')}\n}\n`],
    ['under servers, as VS Code has it', `servers: ${block}\n`],
  ])('is read %s', (_place, text) => {
    expect(serversOf(text, { TOKEN: 'from-env' })).toEqual({ files, remote });
  });

  it('names the field as it was written, with line and fix', () => {
    const text = `${llm}\nservers:\n  a: {url: mcp.example.com}\n  b: {command: x, comand: y}\n  c: {url: "http://x", autoApprove: [a]}\ninputs: []\n`;
    expect(problemsOf(text)).toEqual([
      'agent.yml:3: mcpServers.a.url: found "mcp.example.com"; expected an http:// or https:// URL',
      'agent.yml:4: mcpServers.b.comand: unknown key; expected one of type, command, args, env, cwd, timeout, description, roots, sampling, disabled',
      expect.stringMatching(
        /^agent\.yml:5: mcpServers\.c\.autoApprove: another MCP client’s key; tools run unasked/,
      ),
      'agent.yml:6: inputs: unknown key; write ${NAME} where VS Code has ${input:…}, and remove inputs',
    ]);
  });

  it('may hold a server that is disabled, which approval rules may name', () => {
    const text =
      'mcpServers: {a: {command: x, disabled: true}}\napproval: {rules: [{server: a, policy: ask}]}\n';
    expect(serversOf(text)).toEqual({ a: { type: 'stdio', command: 'x', disabled: true } });
  });
});

describe('a file that is no agent file', () => {
  it.each([
    ['empty', '', 'agent.yml: the file is empty; expected a map with the key llm'],
    ['nothing but comments', '# nothing\n', 'agent.yml: the file is empty; expected a map with the key llm'],
    ['a list', '- a\n', 'agent.yml:1: a list; expected a map with the key llm'],
    ['a single value', 'hello', 'agent.yml:1: a single value; expected a map with the key llm'],
    [
      'two documents',
      `${llm}\n---\n${llm}\n`,
      'agent.yml:2: a second document begins here; expected one document in the file',
    ],
    ['one with a key twice', `${llm}\n${llm}\n`, 'agent.yml:2: the key llm is repeated here; expected once'],
    [
      'one with a list as a key',
      `? [a]\n: b\n${llm}`,
      'agent.yml:1: a key that is a list, a map or an alias; expected plain text',
    ],
    [
      'one with a key that objects cannot have',
      `${llm}\nmcpServers:\n  __proto__: { command: x }`,
      'agent.yml:3: a key that is called __proto__; expected another name',
    ],
    [
      'one with a tag',
      `${llm}\nsystemPrompt: !!js/function x`,
      'agent.yml:2: not valid YAML: Unresolved tag: tag:yaml.org,2002:js/function',
    ],
    [
      'one with an unknown alias',
      `${llm}\nsystemPrompt: *no`,
      'agent.yml:2: the alias *no has no anchor; expected &no before it',
    ],
    [
      'one that contains itself',
      `${llm}\nmcpServers: &all { a: *all }`,
      'agent.yml:2: an alias refers to a value that contains it',
    ],
  ])('is refused when it is %s', (_case, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('is refused when its aliases would explode', () => {
    const levels = [
      'a: &l0 [x, x]',
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => `l${n}: &l${n} [${`*l${n - 1}, `.repeat(9)}]`),
    ];
    expect(problemsOf(`${llm}\n${levels.join('\n')}\n`)).toEqual([
      expect.stringContaining('Excessive alias count'),
    ]);
  });

  it.each([
    'llm:\n  provider: openai\n  apiKey: "hunter2\n',
    'llm: {}\n- hunter2\n',
    'llm: { apiKey: a }} hunter2',
    'llm: "a" "hunter2"',
    'llm:\n  apiKey: @hunter2',
    '"llm": x\n "hunter2": y\n  hunter2',
  ])('does not show the secret beside a mistake in the YAML: %j', (text) => {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join()).not.toContain('hunter2');
  });
});

describe('reading from disk', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'agent-file-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('hashes a byte order mark, too', () => {
    const path = join(folder, 'a.yml');
    const text = `\uFEFF${llm}\n`;
    writeFileSync(path, text);
    const { agentVersion, config } = loadAgentFile(path, {});
    expect(agentVersion).toBe(createHash('sha256').update(text).digest('hex').slice(0, 12));
    expect(config.llm.model).toBe('offline');
  });

  it('loads the file', () => {
    writeFileSync(join(folder, 'a.yml'), `${llm}\n`);
    expect(loadAgentFile(join(folder, 'a.yml'), {}).config.llm.provider).toBe('scripted');
  });

  it('says that there is no such file', () => {
    const path = join(folder, 'none.yml');
    expect(() => loadAgentFile(path, {})).toThrow(
      `${path}: there is no such file; expected a YAML agent file`,
    );
  });

  it('says that it is a folder', () => {
    expect(() => loadAgentFile(folder, {})).toThrow(
      `${folder}: this is a folder; expected a YAML agent file`,
    );
  });

  it('says that it is not text', () => {
    writeFileSync(join(folder, 'a.yml'), Buffer.from([0x61, 0xff, 0xfe]));
    expect(() => loadAgentFile(join(folder, 'a.yml'), {})).toThrow('not UTF-8 text');
  });
});
