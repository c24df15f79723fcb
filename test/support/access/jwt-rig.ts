import type { z } from 'zod';
import { type JwtDeps, jwtVerifier } from '../../../src/adapters/jwt/jwt-verifier.ts';
import { JwtIssuerConfig } from '../../../src/config/schema/jwt-config.ts';
import type { Identity } from '../../../src/core/access/identity.ts';
import { ROLES } from '../../../src/core/access/scopes.ts';
import { asServiceError, type ErrorBody } from '../../../src/core/errors.ts';
import type { TokenVerifier } from '../../../src/ports/token-verifier.ts';
import { type RecordingLog, recordingLog } from '../telemetry/recording-log.ts';
import { type SigningIssuer, TEST_TIME } from './signing-issuer.ts';

export interface JwtRig {
  readonly verifier: TokenVerifier;
  readonly log: RecordingLog;
  /** Moves both clocks. */
  pass(ms: number): void;
  identity(token: string): Promise<Identity>;
  /** What a client receives for a refused token. */
  refusal(token: string): Promise<ErrorBody>;
}

/** A verifier with a simulated time, for the issuer `sso`, with these settings. */
export function jwtRig(
  issuer: SigningIssuer,
  settings: Partial<z.input<typeof JwtIssuerConfig>> = {},
  deps: Partial<JwtDeps> = {},
): JwtRig {
  const config = { name: 'sso', issuer: issuer.url, audience: 'agent', ...settings };
  return verifierRig([JwtIssuerConfig.parse(config)], { fetch: issuer.fetch, ...deps });
}

export function verifierRig(issuers: readonly JwtIssuerConfig[], deps: Partial<JwtDeps> = {}): JwtRig {
  const log = recordingLog();
  let passedMs = 0;
  const now = () => TEST_TIME + passedMs;
  const verifier = jwtVerifier(issuers, { roles: ROLES, log, now, elapsed: () => passedMs, ...deps });
  const identity = async (token: string): Promise<Identity> => verifier.verify(token);
  return {
    verifier,
    log,
    pass: (ms) => {
      passedMs += ms;
    },
    identity,
    refusal: async (token) => {
      const accepted = await identity(token).catch((error: unknown) => asServiceError(error).body);
      if ('principal' in accepted) throw new Error('the token was accepted');
      return accepted;
    },
  };
}
