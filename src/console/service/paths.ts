/** The path of a session in the REST interface. */
export function sessionPath(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`;
}

/** The path of a tool server in the REST interface. */
export function serverPath(serverId: string): string {
  return `/api/mcp/servers/${encodeURIComponent(serverId)}`;
}
