import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { MaxBytes } from '../../core/size-limits.ts';
import type { Bus } from '../../ports/bus.ts';
import type { ServedRequest } from '../http/http-message.ts';
import type { RunInput } from './run-input.ts';

/** Who asks for which run. */
export interface AskedRun {
  readonly bus: Bus;
  readonly context: RequestContext;
  readonly sessionId: SessionId;
  readonly input: RunInput;
  readonly maxImageBytes: MaxBytes;
  readonly use: ServedRequest['use'];
}
