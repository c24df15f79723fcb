import { errors } from 'jose';
import { ServiceError } from '../../core/errors.ts';

/** Why a token is refused: `details.reason` of the error, and its message. docs/security.md repeats the reasons. */
export const refusals = {
  malformed: 'The token is not a valid JWT.',
  'too large': 'The token is too large.',
  unsupported: 'The token has a critical header parameter, or a key, that the service does not support.',
  'algorithm not allowed': 'The algorithm of the signature is not allowed.',
  'wrong type': 'This is no access token that can be used by its bearer alone.',
  'wrong issuer': 'The service does not accept tokens of this issuer.',
  'wrong audience': 'The token is not meant for this service.',
  'unknown key': 'The issuer of the token has no such key.',
  'wrong signature': 'The signature of the token is wrong.',
  expired: 'The token has expired.',
  'not yet valid': 'The token is not valid yet.',
  'missing claim': 'The token lacks a claim; details.claim names it.',
  'invalid claim': 'A claim of the token cannot be used; details.claim names it.',
} as const;
export type RefusalReason = keyof typeof refusals;

/** @param claim the configured name of a claim, never its value. */
export function refused(reason: RefusalReason, claim?: string): ServiceError {
  return new ServiceError('UNAUTHORIZED', refusals[reason], {
    reason,
    ...(claim !== undefined && { claim }),
  });
}

/** Turns an error of jose into a refusal. Without a cause: some of those errors hold the whole payload. */
export function asRefusal(thrown: unknown): unknown {
  if (!(thrown instanceof errors.JOSEError)) return thrown;
  if (thrown instanceof errors.JWTClaimValidationFailed) return claimRefusal(thrown);
  if (thrown instanceof errors.JWTExpired) return refused('expired');
  if (thrown instanceof errors.JOSEAlgNotAllowed) return refused('algorithm not allowed');
  if (thrown instanceof errors.JOSENotSupported) return refused('unsupported');
  if (thrown instanceof errors.JWKSNoMatchingKey) return refused('unknown key');
  if (thrown instanceof errors.JWSSignatureVerificationFailed) return refused('wrong signature');
  return refused('malformed');
}

function claimRefusal({ claim, reason }: errors.JWTClaimValidationFailed): ServiceError {
  if (claim === 'iss') return refused('wrong issuer');
  if (claim === 'aud') return refused('wrong audience');
  if (claim === 'nbf' && reason === 'check_failed') return refused('not yet valid');
  return refused(reason === 'missing' ? 'missing claim' : 'invalid claim', claim);
}
