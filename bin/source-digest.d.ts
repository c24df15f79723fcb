/** A digest of the contents of the server's sources in a checkout. The times of the files do not matter. */
export declare function sourceDigest(root: string): string;
