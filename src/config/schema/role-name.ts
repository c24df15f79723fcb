import { z } from 'zod';

/** The name of a role of this service. */
export const RoleName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and dashes');
