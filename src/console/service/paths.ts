/** The path of a session in the REST interface. */
export function sessionPath(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`;
}

/** The path of a tool server in the REST interface. */
export function serverPath(serverId: string): string {
  return `/api/mcp/servers/${encodeURIComponent(serverId)}`;
}

/** The path of the grants of a session in the REST interface. */
export function grantsPath(sessionId: string): string {
  return `${sessionPath(sessionId)}/grants`;
}
