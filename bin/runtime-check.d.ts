/** The Node that `npm ci` installs beside the service. */
export declare const PINNED_NODE: string;

export interface RuntimeProbes {
  /** The service is run from its TypeScript sources. */
  readonly fromSource: boolean;
  /** Loads uWebSockets.js; replaced in tests. */
  readonly loadServer?: () => Promise<unknown>;
}

/** Says in one line why this Node cannot run the service; undefined when it can. */
export declare function checkRuntime(probes: RuntimeProbes): Promise<string | undefined>;
