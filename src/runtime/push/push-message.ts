import type { PushConfig } from '../../core/push/push-config.ts';
import type { PushMessage } from '../../ports/push-sender.ts';
import type { PushSigner } from '../../ports/push-signer.ts';

/** What is sent, and sent again with the same id until it has arrived. */
export interface Notification {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

/**
 * The notification with what shows its receiver who sends it: the token and the credentials of the config, and a signature as
 * Standard Webhooks have it, with Ed25519 (`v1a`).
 *
 * @param now milliseconds since the epoch. The receiver refuses what is too old.
 */
export function pushMessage(
  { url, token, authentication }: PushConfig,
  { id, contentType, body }: Notification,
  { signer, now }: { readonly signer: PushSigner; readonly now: number },
): PushMessage {
  const timestamp = String(Math.floor(now / 1_000));
  return {
    url,
    headers: {
      'Content-Type': contentType,
      ...(token !== undefined && { 'X-A2A-Notification-Token': token }),
      ...(authentication?.credentials !== undefined && {
        Authorization: `${authentication.scheme} ${authentication.credentials}`,
      }),
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1a,${signer.sign(`${id}.${timestamp}.${body}`)}`,
    },
    body,
  };
}
