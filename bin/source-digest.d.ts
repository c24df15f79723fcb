/** Tells one state of a checkout from another by what its files say, whatever their times are. */
export declare function sourceDigest(root: string): string;
