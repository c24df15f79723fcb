import { hostAndPort } from '../core/host-literal.ts';

/** The address at which this machine reaches a service that listens on a host and a port. */
export function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${hostAndPort(name, port)}`;
}
