import { OAuthError, ServerError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { z } from 'zod';
import { shorten } from '../../../core/shorten.ts';
import { messageOf } from '../../../core/thrown.ts';
import type { Mask } from '../failure/secret-mask.ts';

const MAX_CHARACTERS = 300;

/** Why a server could not be authorized. The message is for people and holds no secret. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
}

/** Describes a failed exchange with an authorization server. Answers that are no OAuth errors are not repeated. */
export function authorizationProblem(error: unknown, mask: Mask): string {
  if (error instanceof AuthorizationError) return error.message;
  if (error instanceof ServerError)
    return 'the authorization server failed, or gave an answer that is not valid OAuth';
  if (error instanceof OAuthError) {
    const said = error.message === '' ? '' : `: ${shorten(mask(error.message), MAX_CHARACTERS)}`;
    return `the authorization server refused with ${error.errorCode}${said}`;
  }
  if (error instanceof z.core.$ZodError)
    return 'the authorization server gave an answer that is not valid OAuth';
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'the authorization server did not answer in time';
  if (error instanceof TypeError && error.cause instanceof Error)
    return `the authorization server could not be reached: ${mask(messageOf(error.cause))}`;
  return shorten(mask(messageOf(error)), MAX_CHARACTERS);
}
