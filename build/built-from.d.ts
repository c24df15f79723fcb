/** Whether dist/ is as a whole build has left it, and that build was made from the present sources. */
export declare function isBuilt(root: string): boolean;

export declare function digestOfSources(root: string): string;

/** To be called after a whole build, with the digest of its sources from before it. */
export declare function noteBuild(root: string, digest: string): void;
