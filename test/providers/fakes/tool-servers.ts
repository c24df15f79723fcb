import { plainTools } from './plain-tools.ts';
import type { ToolServers } from './stage.ts';

/** The reference server of the protocol, as in the agent files that come with the package. */
export const everything: ToolServers = {
  everything: { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] },
};

// In an agent file `$$` is a dollar sign.
const script = `(${plainTools})()`.split('$').join('$$');

export const plain: ToolServers = {
  plain: { type: 'stdio', command: process.execPath, args: ['--eval', script] },
};
