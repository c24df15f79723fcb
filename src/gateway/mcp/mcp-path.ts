/** Where an agent answers MCP clients over HTTP. Behind the prefix of the agent, where there are several. */
export const MCP_PATH = '/mcp';
