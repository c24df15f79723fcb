import { fileURLToPath } from 'node:url';

/** A checkout of the service, whose processes a bench measures. */
export interface Version {
  /** Its folder, with a trailing slash. */
  readonly root: string;
  /** The commit, as it was named on the command line. Absent for the checkout that the benches are in. */
  readonly ref?: string;
}

export const thisCheckout: Version = { root: fileURLToPath(new URL('../../', import.meta.url)) };
