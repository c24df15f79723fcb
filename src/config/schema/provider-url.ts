import { z } from 'zod';

/** Whether the host of a URL is this machine. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/** `new URL` writes every form of an IPv4 address, such as `0177.1` or `2130706433`, as four decimal numbers. */
function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isEncrypted = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
  return isEncrypted && url.username === '' && url.password === '';
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
