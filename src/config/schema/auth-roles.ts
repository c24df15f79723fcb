import type { z } from 'zod';
import { ROLES } from '../../core/access/scopes.ts';
import type { JwtIssuerConfig } from './jwt-config.ts';

interface RolesInUse {
  readonly roles: Readonly<Record<string, unknown>>;
  readonly jwt: readonly Pick<JwtIssuerConfig, 'roles' | 'defaultRoles'>[];
}

/** Reports configured roles with the name of one that every service has, which would win. */
export function checkRoleNames({ roles }: Pick<RolesInUse, 'roles'>, context: z.RefinementCtx): void {
  const message = 'is a role of every service, which cannot be changed: define one with another name';
  for (const name of Object.keys(roles).filter((one) => Object.hasOwn(ROLES, one)))
    context.addIssue({ code: 'custom', path: ['roles', name], message, params: { isWhole: true } });
}

/** Reports roles that issuers give to their principals and that nobody has defined. Such a role allows nothing. */
export function checkIssuerRoles({ roles, jwt }: RolesInUse, context: z.RefinementCtx): void {
  const known = [...Object.keys(ROLES), ...Object.keys(roles)];
  const message = `must be a role of this service: ${known.join(', ')}; define further ones in auth.roles`;
  const check = (given: string | readonly string[], path: readonly PropertyKey[]): void => {
    for (const [index, name] of [given].flat().entries()) {
      if (known.includes(name)) continue;
      const place = typeof given === 'string' ? path : [...path, index];
      context.addIssue({ code: 'custom', path: [...place], message });
    }
  };
  for (const [index, issuer] of jwt.entries()) {
    check(issuer.defaultRoles, ['jwt', index, 'defaultRoles']);
    for (const [theirs, ours] of Object.entries(issuer.roles ?? {})) {
      check(ours, ['jwt', index, 'roles', theirs]);
    }
  }
}
