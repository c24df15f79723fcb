import { createHash } from 'node:crypto';

/** The length that Mistral demands, and every provider accepts. */
const LENGTH = 9;

/**
 * The id of a tool call for a provider: the original if the provider accepts it, otherwise a hash of it, which is
 * always the same. Ids of another provider, or of the service, may be too long or hold characters that the provider
 * refuses.
 */
export function acceptableCallId(callId: string, accepted: RegExp | undefined): string {
  if (accepted === undefined || accepted.test(callId)) return callId;
  const digits = createHash('sha256').update(callId).digest('hex');
  return BigInt(`0x${digits}`).toString(36).slice(0, LENGTH);
}
