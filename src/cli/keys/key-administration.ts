import type { ApiKeyRecord, CreatedApiKey, NewApiKey } from '../../core/access/api-key-record.ts';
import type { TenantId } from '../../core/access/identity.ts';

/** Where API keys are managed: in a data directory or at a running service. */
export interface KeyAdministration {
  /**
   * Without a tenant, the key is for the tenant of the administrator.
   * @param show gets the new key, also if this rejects after the key was stored.
   */
  create(
    key: Omit<NewApiKey, 'tenant'> & { readonly tenant?: TenantId | undefined },
    show: (created: CreatedApiKey) => Promise<void>,
  ): Promise<void>;
  list(): Promise<readonly ApiKeyRecord[]>;
  revoke(keyId: string): Promise<ApiKeyRecord>;
}
