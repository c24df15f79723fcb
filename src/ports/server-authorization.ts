/** What an authorization server sends back with the browser of the person who was asked. */
export interface AuthorizationResponse {
  readonly state: string;
  readonly code?: string | undefined;
  /** The issuer, as RFC 9207 wants it. */
  readonly iss?: string | undefined;
  /** The code of an error, such as `access_denied`. */
  readonly error?: string | undefined;
}

export interface AuthorizationOutcome {
  /** The name of the tool server. */
  readonly server: string;
  /** For people, without secrets: why the service may not use the server. Null if it may. */
  readonly problem: string | null;
}

/** The permissions to use tool servers that ask for OAuth. */
export interface ServerAuthorizations {
  /** Says where authorization servers send browsers back to; null if this process has no page for them. */
  returnTo(redirectUrl: string | null): void;
  /** The address that a person must open before the server can be used; undefined if nobody is asked. */
  urlOf(server: string): string | undefined;
  /** Each `state` works once. @returns null if the `state` is unknown, used or too old. */
  finish(response: AuthorizationResponse): Promise<AuthorizationOutcome | null>;
  /** Looks for what other nodes were given. @returns the servers that waited for a person, and need nobody now. */
  authorizedElsewhere(): Promise<readonly string[]>;
  /** Erases all that was given for this server. */
  forget(server: string): Promise<void>;
  /** Erases all that was given for other servers than these. */
  keepOnly(servers: readonly string[]): Promise<void>;
}

/** Keeps a secret text for each tool server, over restarts. */
export interface CredentialStore {
  /** Whether other nodes keep texts, too. Then any text may have been replaced since it was read. */
  readonly isShared: boolean;
  read(server: string): Promise<string | null>;
  /** Resolves when the text would survive a crash and its predecessor is erased. */
  keep(server: string, text: string): Promise<void>;
  /**
   * Says that this node is about to replace the text, so that no other one does the same. It ends with `keep` or
   * `release`, and after a while if the node has died.
   *
   * @returns false if another node is about to, or has just done so: then read the text again.
   */
  claim(server: string): Promise<boolean>;
  /** Never rejects. */
  release(server: string): Promise<void>;
  forget(server: string): Promise<void>;
  /** Forgets all others. */
  keepOnly(servers: readonly string[]): Promise<void>;
}
