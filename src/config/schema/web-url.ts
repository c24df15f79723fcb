import { z } from 'zod';

/** What is wrong with a URL that has a user or a password. Such URLs are shown: in the agent card, in logs, in errors. */
export const NO_CREDENTIALS = 'must be a URL without user and password';

/** Whether a URL has a user or a password. */
export function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== '' || url.password !== '');
}

export const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

export const PublicHttpUrl = HttpUrl.refine((text) => !hasCredentials(text), NO_CREDENTIALS);
