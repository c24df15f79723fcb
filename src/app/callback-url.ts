import { CALLBACK_PATH } from '../gateway/routes/oauth-callback-route.ts';

/** Where authorization servers send browsers back to. */
export function callbackUrl(base: string): string {
  return `${base.replace(/\/+$/, '')}${CALLBACK_PATH}`;
}

/** The name that browsers use must be allowed, or the answer would be refused. */
export function publicHost(publicUrl: string | undefined): string[] {
  return publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
}
