import { isIP } from 'node:net';
import { z } from 'zod';
import { bareHost } from '../../core/host-literal.ts';

const MAX_PORT = 65_535;

/** What a Host header can say. Clients write a name of other scripts in ASCII: `xn--…`. */
function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, host = '', port = '0'] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isName = /^[a-z\d_]([\w-]*\w)?(\.[a-z\d_]([\w-]*\w)?)*\.?$/i.test(host);
  return (isName || isIP(bareHost(host)) === 6) && Number(port) <= MAX_PORT;
}

export const AllowedHost = z
  .string()
  .refine(
    isHost,
    'must be a host name such as agent.example.com or an IP address, without scheme, path and *; a port may follow',
  );
