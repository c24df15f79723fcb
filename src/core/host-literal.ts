/** A host as a socket takes it: an IPv6 address without the brackets that it has in a URL. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*:.*)\]$/, '$1');
}

/** A host and a port as they stand in a URL. @param host without brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine reaches the host. @param host without brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(host);
}
