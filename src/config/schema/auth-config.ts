import { z } from 'zod';
import { Scope } from '../../core/access/scopes.ts';
import { AuthLimits } from './auth-limits.ts';
import { checkIssuerRoles, checkRoleNames } from './auth-roles.ts';
import { ConsoleConfig, checkConsoleIssuer } from './console-config.ts';
import { JwtConfig } from './jwt-config.ts';
import { McpResourceUrl } from './mcp-resource-url.ts';
import { RoleName } from './role-name.ts';

/** Most days that the audit trail can be kept. */
export const MAX_AUDIT_DAYS = 3_650;

const AuthFields = z.strictObject({
  /** Whether the service issues and accepts API keys. */
  apiKeys: z.boolean().default(false),
  /** What may be read without a credential, besides the probes: the documents, the metrics. */
  public: z.array(z.enum(['docs', 'metrics'])).default(['docs']),
  /** Roles besides `reader`, `user`, `approver`, `operator` and `admin`, whose names are taken. */
  roles: z.record(RoleName, z.array(Scope)).default({}),
  /** Identity providers whose tokens (JWT) the service accepts. */
  jwt: JwtConfig.default([]),
  /** How many days the audit trail is kept. */
  auditDays: z.int().min(1).max(MAX_AUDIT_DAYS).default(90),
  /** The public URL of `/mcp`, as MCP clients know it. Without it, the Host header of each request says it. */
  resource: McpResourceUrl.optional(),
  /** How people sign in to the console. Without it, with an API key only. */
  console: ConsoleConfig.optional(),
  /** Limits of each principal and each tenant. Those of the agent file count by address, for whoever is not authenticated. */
  limits: AuthLimits.prefault({}),
});

/** Who may use the service, and what for. */
export const AuthConfig = AuthFields.superRefine(checkRoleNames)
  .superRefine(checkIssuerRoles)
  .superRefine(checkConsoleIssuer);
export type AuthConfig = z.infer<typeof AuthConfig>;
