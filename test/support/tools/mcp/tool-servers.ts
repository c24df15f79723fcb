import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import type { StdioServerConfig } from '../../../../src/core/tool-server/mcp-server-config.ts';

type StdioConfig = z.infer<typeof StdioServerConfig>;

const scriptPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The server with a tool for each thing a test may want to see; see `scriptable-tools.ts`. */
export function scriptableServer(more: Partial<StdioConfig> = {}): StdioConfig {
  return { type: 'stdio', command: process.execPath, args: [scriptPath('scriptable-server.ts')], ...more };
}

/** A server of 2026-07-28; see `stateless-tools.ts`. */
export function statelessServer(): StdioConfig {
  return { type: 'stdio', command: process.execPath, args: [scriptPath('stateless-server.ts')] };
}

/** A server that misbehaves in the named way; see `odd-server.ts`. */
export function oddServer(behaviour: string[], more: Partial<StdioConfig> = {}): StdioConfig {
  return {
    type: 'stdio',
    command: process.execPath,
    args: [scriptPath('odd-server.ts'), ...behaviour],
    ...more,
  };
}

/** A server that notes in the folder what it was paid; see `paying-server.ts`. */
export function payingServer(folder: string): StdioConfig {
  return { type: 'stdio', command: process.execPath, args: [scriptPath('paying-server.ts'), folder] };
}
