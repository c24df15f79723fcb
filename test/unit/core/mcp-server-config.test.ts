import { describe, expect, it } from 'vitest';
import { McpServerConfig, McpServerName } from '../../../src/core/tool-server/mcp-server-config.ts';

const files = { command: 'npx', args: ['-y', 'server', '/tmp'], env: { TOKEN: 't' }, cwd: '/tmp' };
const remote = { headers: { Authorization: 'Bearer x' } };
const url = 'https://mcp.example.com/mcp';

const issuesOf = (config: unknown) =>
  (McpServerConfig.safeParse(config).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );

const besideCommand =
  'stands beside command; a server is a process (command) or has an address (url), so remove one of the two';

const ofStdio =
  'stands beside type: stdio, and only a server of type http has an address; write type: http, or command in its place';

describe('the configuration of a tool server, as other MCP clients write it', () => {
  it.each([
    ['Claude Desktop: a process without a type', files, { type: 'stdio', ...files }],
    ['Cursor: an address without a type', { url, ...remote }, { type: 'http', baseUrl: url, ...remote }],
    ['VS Code: an address', { type: 'http', url, ...remote }, { type: 'http', baseUrl: url, ...remote }],
    ['Roo Code: streamable-http', { type: 'streamable-http', url }, { type: 'http', baseUrl: url }],
    ['Cline: streamableHttp', { type: 'streamableHttp', url }, { type: 'http', baseUrl: url }],
    ['HTTP with server-sent events', { type: 'sse', url }, { type: 'http', baseUrl: url }],
    ['an address by its own name here', { baseUrl: url }, { type: 'http', baseUrl: url }],
    [
      'Cline: empty lists and the switch',
      { ...files, disabled: false, autoApprove: [], alwaysAllow: [], disabledTools: [] },
      { type: 'stdio', ...files, disabled: false },
    ],
    ['a disabled server', { url, disabled: true }, { type: 'http', baseUrl: url, disabled: true }],
  ])('is read: %s', (_client, given, config) => {
    expect(McpServerConfig.parse(given)).toEqual(config);
  });

  it('is read as it is where it is complete', () => {
    const own = { type: 'stdio', ...files, timeout: 5_000, description: 'Files' };
    expect(McpServerConfig.parse(own)).toEqual(own);
  });

  it.each([
    [
      { ...files, autoApprove: ['read'] },
      [
        'autoApprove: another MCP client’s key; tools run unasked unless approval.rules say otherwise, so remove it',
      ],
    ],
    [
      { ...files, disabledTools: ['write'] },
      [
        'disabledTools: another MCP client’s key; deny the tools instead, with policy: deny in approval.rules',
      ],
    ],
    [{ ...files, envFile: '.env' }, ['envFile: another MCP client’s key; put the variables under env']],
    [{ serverUrl: url }, ['serverUrl: another MCP client’s key; write url']],
    [{ httpUrl: url }, ['httpUrl: another MCP client’s key; write url']],
    [{ url, transport: 'sse' }, ['transport: another MCP client’s key; write type']],
    [{ ...files, url }, [`url: ${besideCommand}`]],
    [{ ...files, baseUrl: url }, [`baseUrl: ${besideCommand}`]],
    [{ type: 'stdio', url }, [`url: ${ofStdio}`]],
    [{ type: 'stdio', baseUrl: url }, [`baseUrl: ${ofStdio}`]],
    [{ url, baseUrl: url }, ['url: must not stand beside baseUrl, which means the same']],
    [{ url: 'mcp.example.com' }, ['url: must be an http:// or https:// URL']],
    [{ type: 'http', url: 5 }, ['url: must be an http:// or https:// URL']],
  ])('is refused by the name of the field, with the fix: %j', (given, issues) => {
    expect(issuesOf(given)).toEqual(issues);
  });

  it('is refused at its type where nothing tells what it is', () => {
    expect(issuesOf({ args: [] })).toEqual([expect.stringMatching(/^type: /)]);
    expect(issuesOf({ type: 'websocket', url })).toEqual([expect.stringMatching(/^type: /)]);
    expect(issuesOf('npx')).toHaveLength(1);
  });
});

describe('the name of a tool server', () => {
  it.each(['files', 'my server', 'é', '文件', '😀'])('may be %s', (name) => {
    expect(McpServerName.parse(name)).toBe(name);
  });

  it.each(['a\ud800', '\udc00a', '\ud800'])('is refused with half of a surrogate pair: %j', (name) => {
    expect(McpServerName.safeParse(name).error?.issues).toMatchObject([
      { message: 'must be valid Unicode, without half of a surrogate pair' },
    ]);
  });
});
