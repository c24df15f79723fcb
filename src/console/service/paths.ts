/** Where the service has a session; what can be asked of it stands below. */
export function sessionPath(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`;
}

/** Where the service has a tool server. */
export function serverPath(serverId: string): string {
  return `/api/mcp/servers/${encodeURIComponent(serverId)}`;
}
