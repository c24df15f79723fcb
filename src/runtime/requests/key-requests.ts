import { ServiceError } from '../../core/errors.ts';
import { requestOrigin } from '../../core/request/request-origin.ts';
import type { KeyBook } from '../access/key-book.ts';
import type { LocalBus } from '../bus/local-bus.ts';

/** Registers the handlers of the requests about API keys. A client manages the keys of its own tenant only. */
export function answerForKeys(bus: LocalBus, keys: KeyBook): void {
  bus.handle('key.create', async ({ tenant, ...wanted }, context) => {
    if (tenant !== undefined && tenant !== context.tenant) throw foreignTenant();
    return keys.create({ ...wanted, tenant: context.tenant }, requestOrigin(context));
  });
  bus.handle('key.list', async (_request, { tenant }) => keys.list(tenant));
  bus.handle('key.revoke', ({ keyId }, context) =>
    keys.revoke(keyId, context.tenant, requestOrigin(context)),
  );
}

function foreignTenant(): ServiceError {
  return new ServiceError('FORBIDDEN', 'An API key can be created only for your own tenant.', {
    field: 'tenant',
    issue: 'it is another tenant',
    suggestion: 'Leave it out.',
  });
}
