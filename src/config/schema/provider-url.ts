import { z } from 'zod';
import { bareHost, isLoopbackHost } from '../../core/host-literal.ts';
import { hasCredentials } from './web-url.ts';

/** `new URL` writes every form of an IPv4 address, such as `0177.1` or `2130706433`, as four decimal numbers. */
function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  const isEncrypted = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(bareHost(hostname)));
  return isEncrypted && !hasCredentials(text);
}

/** Where keys of an identity provider come from. Without TLS, anyone on the way could replace them. */
export const ProviderUrl = z
  .string()
  .refine(
    isSafe,
    'must be an https:// URL without user and password; http:// is accepted for a loopback address only',
  );

/** RFC 8414 allows neither a query nor a fragment in an issuer. */
export const IssuerUrl = ProviderUrl.refine(
  (text) => !/[?#]/.test(text),
  'must be the issuer exactly as the provider writes it into "iss", which has no query and no fragment',
);
