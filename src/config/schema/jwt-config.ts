import { z } from 'zod';
import { TenantId } from '../../core/access/identity.ts';
import { IssuerUrl, ProviderUrl } from './provider-url.ts';
import { RoleName } from './role-name.ts';

/**
 * Signatures that a token may have. All of them are asymmetric: with a shared secret (HS256 and its like), whoever can
 * verify a token could also make one.
 */
export const jwtAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const Algorithm = z.enum(jwtAlgorithms, {
  error: `must be one of ${jwtAlgorithms.join(', ')}; "none" and shared secrets (HS256, HS384, HS512) are never accepted`,
});

/**
 * Where a claim is: keys joined by dots, such as `realm_access.roles`, or a list of keys. Keys that contain dots, such
 * as URLs, need the list: `["https://example.com/roles"]`.
 */
const ClaimPath = z.union([
  z
    .string()
    .regex(
      /^(?!.*:\/\/)[^.]+(?:\.[^.]+)*$/,
      'must be keys joined by dots, such as org.id; write a key that is a URL or contains dots as a list: ["https://example.com/roles"]',
    ),
  z.array(z.string().min(1)).min(1),
]);
export type ClaimPath = z.infer<typeof ClaimPath>;

export const ClaimsConfig = z.strictObject({
  /** The claim that says who it is. Its value is a string of at most 200 characters. */
  principal: ClaimPath.default('sub'),
  /** The claim that names the tenant: a string, or a list of one string. Tokens without it are refused. */
  tenant: ClaimPath.optional(),
  /** The claim that lists roles. A string is one role. Tokens without it have the default roles only. */
  roles: ClaimPath.default('roles'),
  /**
   * The claim that grants scopes, usually `scope` or `scp`: a list, or one string with spaces. Names that are scopes of
   * this service are granted in addition to those of the roles; others are ignored. Without this setting, only roles count.
   */
  scope: ClaimPath.optional(),
});

/** Prefixes of the names of others: API keys, people on the machine, the service itself, and who shows no credential. */
const RESERVED_NAMES: readonly string[] = ['key', 'local', 'service', 'anonymous'];

const IssuerName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,19}$/,
    'must be 1 to 20 lower-case letters, digits and dashes, and start with a letter',
  )
  .refine(
    (name) => !RESERVED_NAMES.includes(name),
    `must be another name: ${RESERVED_NAMES.map((name) => `"${name}"`).join(', ')} stand for others`,
  );

const IssuerFields = z.strictObject({
  /** Stands in front of the principals of this issuer: `name:sub`. A change makes them other principals. */
  name: IssuerName,
  /** Compared with `iss` character by character: a slash at the end counts. */
  issuer: IssuerUrl,
  /** Tokens must be meant for one of these. */
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  /** The issuer's public keys. Without it, the metadata of the issuer say where they are. */
  jwksUri: ProviderUrl.optional(),
  /** Accepted signatures. */
  algorithms: z.array(Algorithm).min(1).default(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']),
  /** How far the clocks of issuer and service may differ, in seconds. */
  clockSkewSeconds: z.int().min(0).max(300).default(30),
  claims: ClaimsConfig.prefault({}),
  /** The tenant of all principals of this issuer. Without it and `claims.tenant`: the default tenant. */
  tenant: TenantId.optional(),
  /** From a role of the issuer to one or more of this service. With it, roles that it does not name are ignored. */
  roles: z.record(z.string().min(1), z.union([RoleName, z.array(RoleName)])).optional(),
  /** Roles that every token of this issuer has. */
  defaultRoles: z.array(RoleName).default([]),
});

/** An identity provider whose tokens the service accepts. */
export const JwtIssuerConfig = IssuerFields.superRefine(({ tenant, claims }, context) => {
  if (tenant === undefined || claims.tenant === undefined) return;
  const message = 'remove tenant or claims.tenant: the tenant is either fixed, or comes from the token';
  context.addIssue({ code: 'custom', path: ['tenant'], message, params: { isWhole: true } });
});
export type JwtIssuerConfig = z.infer<typeof JwtIssuerConfig>;

export const JwtConfig = z.array(JwtIssuerConfig).superRefine((issuers, context) => {
  const isRepeated = (key: 'name' | 'issuer', index: number): boolean =>
    issuers.findIndex((other) => other[key] === issuers[index]?.[key]) < index;
  for (const index of issuers.keys()) {
    if (isRepeated('name', index)) {
      const message = 'must be unique, because it tells the principals of the issuers apart';
      context.addIssue({ code: 'custom', path: [index, 'name'], message });
    }
    if (isRepeated('issuer', index)) {
      const message = 'must be an issuer that no other entry has; put all its audiences into one entry';
      context.addIssue({ code: 'custom', path: [index, 'issuer'], message });
    }
  }
});
