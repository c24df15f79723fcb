import { ServiceError } from '../../core/errors.ts';

/** Says what is wrong with a key, and holds nothing of it. */
export function mistypedKey(): ServiceError {
  const reason = 'mistyped';
  return refused(reason, 'It is incomplete, or a character is wrong: copy the whole key again.');
}

/** @param reason why no key like this helps. */
export function refusedKey(reason: 'unknown' | 'revoked' | 'expired'): ServiceError {
  return refused(reason, 'Ask an administrator for another key.');
}

function refused(reason: string, suggestion: string): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The API key is not accepted.', { reason, suggestion });
}

export function unknownKeyId(keyId: string): ServiceError {
  return new ServiceError('API_KEY_NOT_FOUND', `There is no API key ${keyId}.`, { keyId });
}

export function unknownRole(role: string, known: readonly string[]): ServiceError {
  return invalid('roles', `there is no role ${JSON.stringify(role)}`, `Use one of ${known.join(', ')}.`);
}

export function pastExpiry(): ServiceError {
  return invalid('expiresAt', 'it has passed already', 'Choose a time in the future, or leave it out.');
}

function invalid(field: string, issue: string, suggestion: string): ServiceError {
  const message = `The field ${field} is not valid: ${issue}.`;
  return new ServiceError('INVALID_REQUEST', message, { field, issue, suggestion });
}
