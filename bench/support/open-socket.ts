import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A TCP or TLS connection to `http://…` or `https://…`, with TCP_NODELAY. */
export function openSocket(base: URL): Socket {
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const isSecure = base.protocol === 'https:';
  const port = Number(base.port || (isSecure ? 443 : 80));
  const socket = isSecure ? connectTls({ host, port, servername: host }) : connect(port, host);
  return socket.setNoDelay(true);
}
