/** The path of a session in the REST interface. */
export function sessionPath(sessionId: string): string {
  return `/api/sessions/${segment(sessionId)}`;
}

/** The path of a tool server in the REST interface. */
export function serverPath(serverId: string): string {
  return `/api/mcp/servers/${segment(serverId)}`;
}

/** The path of a tool of a server in the REST interface. */
export function toolPath(serverId: string, toolName: string): string {
  return `${serverPath(serverId)}/tools/${segment(toolName)}`;
}

/** The path of the grants of a session in the REST interface. */
export function grantsPath(sessionId: string): string {
  return `${sessionPath(sessionId)}/grants`;
}

/** `encodeURIComponent` throws for half of a surrogate pair, which names of tools may have, and so would a whole panel. */
function segment(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}
