import { createHash } from 'node:crypto';

/** As many letters and digits as Mistral wants; every provider takes so many. */
const LENGTH = 9;

/**
 * The id under which a provider is told of a tool call: its own where the provider takes it, else one made of it, the
 * same each time. Ids of another provider, or of the service, may be too long or hold characters that it refuses.
 */
export function acceptableCallId(callId: string, accepted: RegExp | undefined): string {
  if (accepted === undefined || accepted.test(callId)) return callId;
  const digits = createHash('sha256').update(callId).digest('hex');
  return BigInt(`0x${digits}`).toString(36).slice(0, LENGTH);
}
